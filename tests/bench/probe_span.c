/* P2: a span's begin and end, beside a zone of Tracy's in the same process.
 *   probe_span FOLDER    FOLDER holds libpeer_tracy.so where there is one
 * BENCH_TRACY: the program that captures for Tracy, which is started here. */
#include "tests/bench/bench.h"

#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/span.h"

static void (*zones)(unsigned count);
static pid_t capture;

static void run_spans(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		tstrace_span span =
		    tstrace_begin_span(NULL, "decoder.layer.0.attention", TSTRACE_FUNCTION);

		tstrace_end_span(NULL, span);
	}
}

static void round_of(const char *key, void (*run)(unsigned count))
{
	double costs[BURSTS];

	for (int i = 0; i < BURSTS; i++) {
		double t0 = now_ns();

		run(EVENTS);
		costs[i] = (now_ns() - t0) / EVENTS;
		usleep(PAUSE_US);
	}
	printf("%s %.3f\n", key, median(costs, BURSTS));
}

/* Attach the capture; it is not to be recorded itself. */
static void attach(const char *folder, const char *program)
{
	char path[4096],
	    *arguments[] =
		{(char *)(uintptr_t)program, "-f", "-o", "bench.tracy", "-a", "127.0.0.1", NULL},
	    *environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	int (*connected)(void);
	void *peer;

	snprintf(path, sizeof(path), "%s/libpeer_tracy.so", folder);
	peer = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!peer)
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
	if (posix_spawn(&capture, program, &actions, NULL, arguments, environment))
		capture = 0;
	posix_spawn_file_actions_destroy(&actions);
	*(void **)&connected = dlsym(peer, "peer_connected");
	if (capture && connected && connected())
		*(void **)&zones = dlsym(peer, "peer_zones");
	else
		fprintf(stderr, "bench: Tracy's capture did not attach\n");
}

int main(int argc, char **argv)
{
	const char *program = getenv("BENCH_TRACY");

	if (argc < 2 || !HAVE_SPANS)
		return argc < 2 ? 2 : 0;
	if (program && *program)
		attach(argv[1], program);
	for (int round = 0; round < ROUNDS; round++) {
		round_of("span_pair", run_spans);
		if (zones)
			round_of("tracy", zones);
	}
	printf("made %d\n", ROUNDS * BURSTS * EVENTS * 2);
	fflush(stdout);
	if (capture > 0) {
		kill(capture, SIGKILL);
		waitpid(capture, NULL, 0);
	}
	return 0;
}
