# 2.05: posix_spawn with an environment of its own, and vfork in a loop while other threads trace: children are simply
# untraced, have none of our descriptors, and the parent's trace is whole.
. "$(dirname "$0")/lib.sh"
sim_program spawns <<'C'
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int stop;
static void *use(void *arg)
{
	void *p;
	while (!stop)
		if (cudaMalloc(&p, 64) || cudaFree(p))
			_exit(9);
	return arg;
}
int main(void)
{
	char *list[] = { "ls", "/proc/self/fd", 0 }, *none[] = { 0 }, *nothing[] = { "true", 0 };
	pthread_t threads[4];
	void *p;
	pid_t child;
	int status;
	cudaMalloc(&p, 1);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, use, 0);
	for (int i = 0; i < 20; i++) {
		if (!(child = vfork())) {
			execve("/bin/true", nothing, none);
			_exit(1);
		}
		if (waitpid(child, &status, 0) != child || status)
			return 2;
		if (!(child = vfork()))
			_exit(3);       /* the parent's session goes on */
		if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
			return 4;
	}
	if (posix_spawn(&child, "/bin/ls", 0, 0, list, none) || waitpid(child, &status, 0) != child || status)
		return 5;
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0);
	return cudaFree(p);
}
C
LIMIT=60 transparent spawns ./spawns
holds spawns.jsonl <<'PY'
assert t.terminal["outcome"] == "complete" and t.terminal["lost"] == {}, t.terminal
assert t.allocs() and not t.live()
PY
[ "$(ls *.jsonl)" = spawns.jsonl ] || fail "other traces: $(ls *.jsonl)"
exit 0
