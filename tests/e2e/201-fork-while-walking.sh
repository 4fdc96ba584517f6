# 2.01: threads are inside our walks over the loaded objects while another forks; the child uses CUDA and ends.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
# A runtime that does nothing and says nothing: the threads are in our code nearly all the time.
library libcudart.so.12 -Wl,-soname,libcudart.so.12 <<'C'
int cudaMalloc(void **p, unsigned long bytes) { static _Thread_local char block[64]; *p = block; return 0; }
int cudaFree(void *p) { return 0; }
C
program forks -L. -l:libcudart.so.12 <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p);
static atomic_int stop;
static void once(void)
{
	void *p = 0;
	if (!cudaMalloc(&p, 64))
		cudaFree(p);
}
static void *loop(void *arg)
{
	while (!stop)
		once();
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t threads[4];
	int bad = 0, forks = argc > 1 ? atoi(argv[1]) : 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, loop, 0);
	for (int i = 0; i < forks; i++) {
		int status;
		pid_t child = fork();
		if (!child) {
			once();
			exit(0);
		}
		waitpid(child, &status, 0);
		bad += status != 0;
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0);
	printf("%d\n", bad);
	return bad != 0;
}
C
# The thread sanitizer would end a child of threads that starts a thread, the writer; and a fork of a process
# with a sanitizer's own memory takes long.
export TSAN_OPTIONS=die_after_fork=0
forks=50
[ -z "$sanitizer" ] || forks=10
LIMIT=100 traced 'fork.%p.jsonl' ./forks $forks >out 2>err || fail "a forked child hung or failed"
[ "$(cat out)" = 0 ] && [ ! -s err ] || { cat out err; fail "another output"; }
exit 0
