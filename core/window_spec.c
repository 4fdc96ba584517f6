#include "core/window_spec.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* Moves *text past `word` when it begins so. */
static bool skip(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length))
		return false;
	*text += length;
	return true;
}

static bool number(const char **text, uint64_t *value)
{
	const char *p = *text;

	for (*value = 0; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
			return false;
	if (p == *text)
		return false;
	*text = p;
	return true;
}

/* A number of ms, s (also without a unit) or m. */
static bool duration(const char **text, uint64_t *ns)
{
	uint64_t unit = 1000 * NS_PER_MS;

	if (!number(text, ns))
		return false;
	if (skip(text, "ms"))
		unit = NS_PER_MS;
	else if (skip(text, "m"))
		unit *= 60;
	else
		skip(text, "s");
	return !__builtin_mul_overflow(*ns, unit, ns) && *ns <= INT64_MAX;
}

static bool iterations(const char *text, struct ts_window_spec *spec)
{
	uint64_t first;

	if (!number(&text, &first))
		return false;
	if (skip(&text, "..")) {
		spec->kind = TS_WINDOW_ITERATIONS;
		spec->first = first;
		return number(&text, &spec->last) && !*text && spec->last >= first;
	}
	spec->kind = TS_WINDOW_CYCLE;
	spec->wait = first;
	if (!skip(&text, ",") || !number(&text, &spec->warm_up) || !skip(&text, ",") ||
	    !number(&text, &spec->active) || !spec->active)
		return false;
	if (skip(&text, ",") && !number(&text, &spec->repeat))
		return false;
	/* The length of a cycle is a number. */
	return !*text && spec->wait <= UINT32_MAX && spec->warm_up <= UINT32_MAX &&
	       spec->active <= UINT32_MAX;
}

static bool after(const char *text, struct ts_window_spec *spec)
{
	spec->kind = TS_WINDOW_TIME;
	if (!duration(&text, &spec->delay_ns))
		return false;
	if (skip(&text, ",") && (!duration(&text, &spec->duration_ns) || !spec->duration_ns))
		return false;
	return !*text;
}

/* Signals that no one sends but a user. */
static bool signal_of(const char *text, struct ts_window_spec *spec)
{
	uint64_t n = 0;

	spec->kind = TS_WINDOW_SIGNAL;
	skip(&text, "SIG");
	if (skip(&text, "USR1"))
		spec->signal = SIGUSR1;
	else if (skip(&text, "USR2"))
		spec->signal = SIGUSR2;
	else if (skip(&text, "HUP"))
		spec->signal = SIGHUP;
	else if (!skip(&text, "RTMIN") || (skip(&text, "+") && !number(&text, &n)) ||
		 n > (uint64_t)(SIGRTMAX - SIGRTMIN))
		return false;
	else
		spec->signal = SIGRTMIN + (int)n;
	return !*text;
}

int ts_window_parse(const char *text, struct ts_window_spec *spec, const char **right)
{
	bool good = false;

	*spec = (struct ts_window_spec){ .kind = TS_WINDOW_RUN };
	if (!strcmp(text, "run")) {
		good = true;
	} else if (!strcmp(text, "profiler")) {
		spec->kind = TS_WINDOW_PROFILER;
		good = true;
	} else if (!strcmp(text, "api")) {
		spec->kind = TS_WINDOW_API;
		good = true;
	} else if (skip(&text, "iterations=")) {
		*right = "after iterations= it wants A..B, or WAIT,WARMUP,ACTIVE[,REPEAT] with "
			 "ACTIVE from 1";
		good = iterations(text, spec);
	} else if (skip(&text, "after=")) {
		*right = "after after= it wants DELAY[,DURATION], each a whole number of ms, s or "
			 "m, as in after=30s,500ms";
		good = after(text, spec);
	} else if (skip(&text, "signal=")) {
		*right = "after signal= it wants USR1, USR2, HUP or RTMIN+N";
		good = signal_of(text, spec);
	} else {
		*right = "it wants run, profiler, api, iterations=A..B, "
			 "iterations=WAIT,WARMUP,ACTIVE[,REPEAT], after=DELAY[,DURATION] or "
			 "signal=NAME";
	}
	if (good)
		return 0;
	*spec = (struct ts_window_spec){ .kind = TS_WINDOW_RUN };
	return -EINVAL;
}
