# 2.07, 2.08: ends without exit handlers and ends by signals: the status is the program's, the file holds whole lines
# with all that is older than the flush interval; where no end could be written, check and summary say so.
. "$(dirname "$0")/lib.sh"
ulimit -c 0
sim_program ends <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* The file has what a thousand events made, or ten seconds are over. */
static void wait_written(const char *path)
{
	char line[4096];
	for (int i = 0; path && i < 1000; i++) {
		int frees = 0;
		FILE *file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			frees += strstr(line, "\"action\":\"free\"") != 0;
		if (file)
			fclose(file);
		if (frees >= 500)
			return;
		usleep(10000);
	}
}
int main(int argc, char **argv)
{
	void *p;
	for (int i = 0; i < 500; i++)
		if (cudaMalloc(&p, 64) || cudaFree(p))
			return 9;
	if (!strcmp(argv[1], "_exit"))
		_exit(7);
	if (!strcmp(argv[1], "_Exit"))
		_Exit(7);
	if (!strcmp(argv[1], "quick_exit"))
		quick_exit(7);
	wait_written(argc > 2 ? getenv("TSTRACE_OUTPUT") : 0);
	if (!strcmp(argv[1], "exit_group"))
		syscall(SYS_exit_group, 7);
	if (!strcmp(argv[1], "abort"))
		abort();
	if (!strcmp(argv[1], "fault"))
		*(volatile int *)8 = 1;
	kill(getpid(), atoi(argv[1]));
	pause();
	return 9;
}
C
for how in _exit _Exit quick_exit; do
	transparent $how ./ends $how
	holds $how.jsonl <<'PY'
assert t.terminal["outcome"] == "complete" and t.terminal["lost"] == {}, t.terminal
assert len(t.allocs()) == len(t.frees()) == 500
PY
done
# A sanitizer's runtime reports signals in its own way.
signals="exit_group abort fault 1 2 9 15"
[ -z "$sanitizer" ] || signals="exit_group 9 15"
for how in $signals; do
	run ./ends $how >plain 2>plain.err
	plain=$?
	traced end.$how.jsonl ./ends $how wait >out 2>err
	[ $? = $plain ] || fail "$how: not status $plain"
	sed -i '/lib.sh: line/d' plain.err err          # what the shell says of a signal
	cmp plain.err err || fail "$how: another stderr"
	[ "$(tail -c 1 end.$how.jsonl | od -An -c | tr -d ' ')" = '\n' ] || fail "$how: a torn line"
	[ "$(grep -c '"action":"free"' end.$how.jsonl)" = 500 ] || fail "$how: events are missing"
	$tstrace check end.$how.jsonl >check.out 2>&1 && fail "$how: check finds nothing"
	grep -q 'terminal event is missing.*killed by a signal' check.out || { cat check.out; fail "$how: check"; }
	$tstrace summary end.$how.jsonl >summary.out 2>summary.err || fail "$how: summary"
	grep -q 'PARTIAL' summary.out && grep -q 'cut off' summary.out || { cat summary.out; fail "$how: summary"; }
	rm -f /dev/shm/tstrace.*."$(sed -n '1s/.*"pid":\([0-9]*\).*/\1/p' end.$how.jsonl)".*
done
exit 0
