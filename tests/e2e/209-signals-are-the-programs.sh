# 2.09: dispositions, masks and the alternate stack are as without us, before the first call, after calls with stacks,
# and on a new thread.
. "$(dirname "$0")/lib.sh"
# The sanitizers' runtimes have handlers of their own.
[ -z "$sanitizer" ] || skip "sanitizers handle signals"
sim_program dumps <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void dump(const char *when)
{
	struct sigaction action;
	stack_t stack;
	sigset_t mask;
	puts(when);
	for (int i = 1; i <= 64; i++)
		if (!sigaction(i, 0, &action))
			printf("%d %d %x\n", i, action.sa_handler != SIG_DFL, action.sa_flags);
	sigprocmask(SIG_BLOCK, 0, &mask);
	for (int i = 1; i <= 64; i++)
		putchar('0' + sigismember(&mask, i));
	sigaltstack(0, &stack);
	printf("\n%d %zu %d\n", stack.ss_sp != 0, stack.ss_size, stack.ss_flags);
}
static void use(void)
{
	void *p;
	for (int i = 0; i < 100; i++)
		if (cudaMalloc(&p, 64) || cudaFree(p))
			_exit(9);
}
static void *thread(void *arg)
{
	dump("thread");
	use();
	dump("thread, after calls");
	return arg;
}
int main(void)
{
	static char room[65536];
	const stack_t own = { .ss_sp = room, .ss_size = sizeof(room) };
	pthread_t id;
	sigset_t set;
	dump("main");
	use();
	dump("after calls");
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMAX);
	sigprocmask(SIG_BLOCK, &set, 0);
	sigaltstack(&own, 0);
	signal(SIGPIPE, SIG_IGN);
	use();
	dump("own");
	pthread_create(&id, 0, thread, 0);
	pthread_join(id, 0);
	return 0;
}
C
for backend in auto event off; do
	TSTRACE_DEVICE=$backend TSTRACE_STACKS=64 transparent dumps.$backend ./dumps
	holds dumps.$backend.jsonl <<'PY'
assert any("stack" in e for e in t.allocs()), "stacks were taken"
PY
done
exit 0
