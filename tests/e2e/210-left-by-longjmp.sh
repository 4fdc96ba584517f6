# 2.10: a signal handler leaves a driver call by siglongjmp, so that a lock of the driver's stays taken; the program
# does not call it again and ends.  Neither the end nor the writer may wait for that lock.
. "$(dirname "$0")/lib.sh"
sim_program jumps <<'C'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
static sigjmp_buf place;
static void leave(int signal)
{
	siglongjmp(place, signal);
}
int main(void)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	void *p;
	cudaMalloc(&p, 1);
	signal(SIGALRM, leave);
	if (!sigsetjmp(place, 1)) {
		setitimer(ITIMER_REAL, &soon, 0);
		for (;;)
			if (!cudaMalloc(&p, 64))
				cudaFree(p);
	}
	puts("left");
	exit(3);
}
C
for backend in auto event off; do
	for i in 1 2 3; do
		TSTRACE_DEVICE=$backend transparent jumps.$backend.$i ./jumps
	done
done
# A driver in which the lock is always held when the handler jumps.
. "$e2e/fakes/fakes.sh"
library libcuda.so.1 -Wl,-soname,libcuda.so.1 -lpthread <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count)
{
	pthread_mutex_lock(&lock);
	*count = 1;
	pthread_mutex_unlock(&lock);
	return 0;
}
int cuDeviceGetName(char *name, int bytes, int device) { snprintf(name, bytes, "fake"); return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = 9; return 0; }
int cuMemAlloc_v2(unsigned long long *p, unsigned long bytes) { *p = 4096; return 0; }
int cuMemFree_v2(unsigned long long p)
{
	pthread_mutex_lock(&lock);
	raise(SIGUSR1);
	return 0;
}
C
program held -L. -l:libcuda.so.1 <<'C'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int cuInit(unsigned), cuMemAlloc_v2(unsigned long long *, unsigned long), cuMemFree_v2(unsigned long long);
static sigjmp_buf place;
static void leave(int signal)
{
	siglongjmp(place, signal);
}
int main(void)
{
	unsigned long long p;
	signal(SIGUSR1, leave);
	if (!sigsetjmp(place, 1)) {
		cuInit(0);
		cuMemAlloc_v2(&p, 64);
		cuMemFree_v2(p);
	}
	puts("left");
	exit(3);
}
C
LIMIT=20 transparent held ./held
holds held.jsonl <<'PY'
assert t.terminal["outcome"] == "complete" and len(t.allocs()) == 1, t.terminal
PY
exit 0
