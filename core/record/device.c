#include "core/record/device.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/record/describe.h"

_Atomic enum ts_backend ts_device_kind;
void *(*ts_device_before)(uint64_t stream, bool per_thread);
void (*ts_device_after)(void *token, struct ts_rec_op *op);
void (*ts_device_context_ends)(int device);

#define PAIRS 32

static struct {
	char key[32], value[256];
} pairs[PAIRS];
static unsigned pair_count;
static const char *name = "off", *reason = "";
static bool simulated;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ts_device_set_state(enum ts_backend kind, const char *new_name, const char *why)
{
	pthread_mutex_lock(&lock);
	ts_device_kind = kind;
	name = new_name;
	reason = why ? why : "";
	pthread_mutex_unlock(&lock);
}

void ts_device_describe(const char *key, const char *value)
{
	unsigned at = 0;

	pthread_mutex_lock(&lock);
	while (at < pair_count && strcmp(pairs[at].key, key))
		at++;
	if (at < PAIRS) {
		snprintf(pairs[at].key, sizeof(pairs[at].key), "%s", key);
		snprintf(pairs[at].value, sizeof(pairs[at].value), "%s", value);
		if (at == pair_count)
			pair_count++;
	}
	pthread_mutex_unlock(&lock);
}

void ts_device_is_simulated(void)
{
	simulated = true;
}

bool ts_describe_simulated(void)
{
	return simulated;
}

void ts_describe_print(struct ts_lines *lines)
{
	pthread_mutex_lock(&lock);
	ts_line_word(lines, "backend", name);
	if (*reason)
		ts_line_text(lines, "backend_reason", reason, strlen(reason));
	for (unsigned i = 0; i < pair_count; i++) {
		ts_line_raw(lines, i ? "," : ",\"cuda\":{");
		ts_line_quoted(lines, pairs[i].key, strlen(pairs[i].key));
		ts_line_raw(lines, ":");
		ts_line_quoted(lines, pairs[i].value, strlen(pairs[i].value));
	}
	if (pair_count)
		ts_line_raw(lines, "}");
	pthread_mutex_unlock(&lock);
}

void ts_describe_child(void)
{
	pthread_mutex_init(&lock, NULL);
	pair_count = 0;
	name = "off";
	reason = "";
	ts_device_kind = TS_BACKEND_OFF;
	ts_device_before = NULL;
	ts_device_after = NULL;
	ts_device_context_ends = NULL;
}
