# 2.06, 2.03, 2.04: what is recorded before an exec is in the file, which is a whole trace; an exec that fails changes
# nothing; the same process as another program has a file of its own; daemon(3) leaves two traces.
. "$(dirname "$0")/lib.sh"
sim_program execs <<'C'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void use(int times)
{
	void *p;
	for (int i = 0; i < times; i++)
		if (cudaMalloc(&p, 64) || cudaFree(p))
			_exit(9);
}
static void *forever(void *arg)
{
	for (;;)
		use(1);
	return arg;
}
int main(int argc, char **argv)
{
	char *const program[] = { argv[2], argc > 3 ? argv[3] : 0, argc > 4 ? argv[4] : 0, 0 };
	pthread_t thread;
	use(100);
	if (!strcmp(argv[1], "busy"))
		for (int i = 0; i < 4; i++)
			pthread_create(&thread, 0, forever, 0);
	if (!strcmp(argv[1], "daemon")) {
		if (daemon(1, 1))
			return 1;
	} else if (!strcmp(argv[1], "search")) {
		execvp(argv[2], program);
	} else if (strcmp(argv[1], "none")) {
		execv(argv[2], program);
	}
	printf("%s\n", strerrorname_np(errno));
	use(50);
	if (!strcmp(argv[1], "daemon")) {
		puts("daemon");
		fclose(stdout);
	}
	return 3;
}
C
clean() { ls /dev/shm | grep "^tstrace.*\.$1\." && fail "$2: a recovery file is left"; return 0; }
check() { # NAME ALLOCATIONS
	holds "$1.jsonl" "$2" <<'PY'
assert t.terminal["outcome"] == "complete" and t.terminal["lost"] == {}, t.terminal
assert len(t.allocs()) == len(t.frees()) == int(args[0]), len(t.allocs())
PY
	pid=$(sed -n '1s/.*"pid":\([0-9]*\).*/\1/p' "$1.jsonl")
	clean "$pid" "$1"
}
true=$(type -P true)
transparent done ./execs now "$true"
check done 100
transparent found ./execs search true
check found 100
transparent missing ./execs now /nonexistent/true
check missing 150
transparent lost ./execs search no-such-program
check lost 150
printf 'neither a script nor a program' >text
chmod +x text
transparent text ./execs now ./text     # it is there and can be run, as far as can be seen before
check text 150
TSTRACE_COMPRESS=zstd traced packed.jsonl ./execs now ./text >/dev/null
[ -s packed.jsonl.zst ] || [ -s packed.jsonl ] || fail "packed: no trace"
valid "$(ls packed.jsonl*)"
# Others go on at full speed: the exec comes all the same.
for backend in auto event; do
	TSTRACE_DEVICE=$backend traced busy.$backend.jsonl ./execs busy "$true" || fail "busy: status $?"
	# The end is waited for three seconds, which a sanitizer on a busy machine may need for less than is there.
	[ -n "$sanitizer" ] || valid busy.$backend.jsonl
	$tstrace check --allow-truncated busy.$backend.jsonl >check.out || { cat check.out; fail "busy.$backend"; }
done
# The same number of the process, another program, traced again.
traced chain.jsonl ./execs now ./execs now "$true" || fail "chain: status $?"
valid chain.jsonl
valid chain.1.jsonl
check chain 100
check chain.1 100
holds chain.jsonl "$(sed -n '1s/.*"run_id":"\([^"]*\)".*/\1/p' chain.1.jsonl)" <<'PY'
assert t.meta["run_id"] != args[0]
PY
# daemon(3) forks and ends the parent inside the C library.  (The child starts a thread: the thread sanitizer has to be
# told that it may.)
export TSAN_OPTIONS=die_after_fork=0
traced 'daemon.%p.jsonl' ./execs daemon >out || fail "daemon: status $?"
for i in $(seq 200); do grep -q daemon out && break; sleep 0.05; done
for i in $(seq 200); do
	[ "$(grep -l '"kind":"terminal"' daemon.*.jsonl | wc -l)" = 2 ] && break
	sleep 0.05
done
for trace in daemon.*.jsonl; do valid "$trace"; done
[ "$(ls daemon.*.jsonl | wc -l)" = 2 ] || fail "daemon: $(ls daemon.*)"
exit 0
