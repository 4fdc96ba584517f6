# 4.05: the wall clock jumps back a second and then ahead an hour: no time in the trace follows it.
. "$(dirname "$0")/lib.sh"
need basic-shared
cat >steps.c <<'C'
#include <dlfcn.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
	static int calls;
	int result = (int)syscall(SYS_clock_gettime, id, t);
	if (id == CLOCK_REALTIME)
		t->tv_sec += calls++ % 2 ? 3600 : -1;
	return result;
}
time_t time(time_t *at)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return at ? (*at = t.tv_sec) : t.tv_sec;
}
C
${CC:-cc} -shared -fPIC -D_GNU_SOURCE steps.c -o steps.so || skip "no compiler"
timeout 20 env LD_PRELOAD="$sanitizer$T/steps.so $B/libtstrace.so" TSTRACE_OUTPUT="$T/steps.jsonl" "$apps/basic-shared" >/dev/null || fail "basic"
valid steps.jsonl
holds steps.jsonl <<'PY'
assert t.terminal["timestamp_ns"] < 20 * 10**9, t.terminal
for e in t.of("op") + t.of("device_interval") + t.of("span_end"):
    assert e["duration_ns"] < 20 * 10**9, e
for e in t.of("device_interval"):
    assert e["start_ns"] + e["duration_ns"] <= t.terminal["timestamp_ns"], e
assert not t.terminal["lost"]
PY
exit 0
