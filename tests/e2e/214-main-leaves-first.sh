# 2.14: the initial thread leaves by pthread_exit, the program's other threads end later: so does the process, by
# exit(0), although tstrace's threads are still there.  Signals reach the program all the while.
. "$(dirname "$0")/lib.sh"
case $sanitizer in *tsan*) skip "ThreadSanitizer's own thread keeps such a process alive" ;; esac
sim_program leaves <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int calls, waits;
static void use(void)
{
	void *p = 0;
	if (cudaMalloc(&p, 64) || cudaFree(p))
		_exit(9);
}
static void handler(void)
{
	use();
	puts("exit handler");
}
static void *thread(void *arg)
{
	usleep(100000);         /* the initial thread is gone */
	for (int i = 0; i < calls; i++)
		use();
	puts(waits ? "waiting" : "thread ends");
	fflush(stdout);
	while (waits)
		pause();
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t id;
	sigset_t set;
	atexit(handler);
	waits = !strcmp(argv[1], "wait");
	calls = strcmp(argv[1], "idle") ? 10 : 0;
	if (strcmp(argv[1], "late"))
		use();
	if (!strcmp(argv[1], "blocked")) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		pthread_sigmask(SIG_BLOCK, &set, 0);
		kill(getpid(), SIGUSR1);
	}
	pthread_create(&id, 0, thread, 0);
	pthread_exit(argc > 2 ? argv : 0);
}
C
for backend in auto event off; do
	export TSTRACE_DEVICE=$backend
	for how in early late idle blocked; do
		transparent $how.$backend ./leaves $how
		grep -q 'exit handler' $how.$backend.out || fail "$how: no exit handler"
		holds $how.$backend.jsonl $how <<'PY'
want = {"early": 12, "late": 11, "idle": 2, "blocked": 12}[args[0]]
assert t.terminal["outcome"] == "complete" and t.terminal["lost"] == {}, t.terminal
assert len(t.allocs()) == len(t.frees()) == want, len(t.allocs())
PY
	done
done
# The program's thread is alive and takes the signal.
TSTRACE_OUTPUT=$T/wait.jsonl LD_PRELOAD=$preload ./leaves wait >out &
pid=$!
for i in $(seq 200); do grep -q waiting out && break; sleep 0.05; done
kill -TERM $pid
wait $pid
[ $? = 143 ] || fail "not ended by SIGTERM"
exit 0
