# NVTX beside all else: spans of tstrace.h, pauses, forks, signals, code that runs before main and after it, many ranges
# under way, a program that ends by _exit.
. "$(dirname "$0")/lib.sh"
eval "$("$e2e/../../scripts/find-cuda" | sed -n 's/^CUDA_INC := \(.*\)/cuda_inc="\1"/p')"
[ -e "$cuda_inc/nvtx3/nvToolsExt.h" ] || skip "no header of NVTX"
program() { # FILE: C on stdin
	${CC:-gcc} -g -O1 -Wall -Wextra -D_GNU_SOURCE -isystem "$cuda_inc" -I"$e2e/../.." -x c - -o "$1" -ldl -lpthread ||
		fail "$1 does not compile"
}

# Ranges and spans of tstrace.h in one stack; a range that is popped while such a span is open waits for it.
program mixed <<'C'
#define TSTRACE_DYNAMIC
#include "core/tstrace.h"
#include <stdio.h>
#include <nvtx3/nvToolsExt.h>
int main(void)
{
	tstrace_span span, inner;

	nvtxRangePushA("range");
	span = tstrace_begin_span(NULL, "span", TSTRACE_FUNCTION);
	nvtxRangePushA("range in span");
	printf("%d\n", tstrace_end_span(NULL, span) != 0);
	nvtxRangePop();
	nvtxRangePop();
	inner = tstrace_begin_span(NULL, "inner", TSTRACE_FUNCTION);
	printf("%d ", tstrace_end_span(NULL, inner));
	printf("%d\n", tstrace_end_span(NULL, span));
	nvtxRangePushA("after");
	nvtxRangePop();

	/* Pushed and popped on either side of a pause. */
	nvtxRangePushA("popped in the pause");
	tstrace_pause(NULL);
	nvtxRangePushA("unseen");
	nvtxRangePop();
	nvtxRangePop();
	nvtxRangePushA("pushed in the pause");
	tstrace_resume(NULL);
	nvtxRangePushA("seen again");
	nvtxRangePop();
	nvtxRangePop();
	nvtxRangePushA("last");
	nvtxRangePop();
	return 0;
}
C
traced mixed.jsonl ./mixed >out || fail "mixed"
[ "$(cat out)" = "1
0 0" ] || { cat out; fail "mixed: other results"; }
valid mixed.jsonl
holds mixed.jsonl <<'PY'
names = {e["name"]: e for e in t.of("span_start")}
ends = {e["id"]: e for e in t.of("span_end")}
parent = lambda name: next(n for n, e in names.items() if e["id"] == names[name]["parent_id"])
assert [parent(n) for n in ("span", "range in span", "inner")] == ["range", "span", "span"]
assert ends[names["range"]["id"]].get("closed_late") and "closed_late" not in ends[names["span"]["id"]]
for name in ("after", "popped in the pause", "seen again", "last"):
    assert names[name]["parent_id"] == "s1", names[name]
assert "unseen" not in names and "pushed in the pause" not in names
assert not any("open_at_end" in e for e in ends.values()), ends
PY

# Begun inside the window, ended outside by a thread that recorded nothing before.
program handed <<'C'
#define TSTRACE_DYNAMIC
#include "core/tstrace.h"
#include <pthread.h>
#include <nvtx3/nvToolsExt.h>
static void *end(void *range)
{
	nvtxRangeEnd((size_t)range);
	return NULL;
}
int main(void)
{
	size_t range = nvtxRangeStartA("handed");
	pthread_t thread;

	tstrace_pause(NULL);
	pthread_create(&thread, NULL, end, (void *)range);
	pthread_join(thread, NULL);
	return 0;
}
C
transparent handed ./handed
holds handed.jsonl <<'PY'
(span,) = t.of("span_start", source="nvtx")
assert span["end_thread"] != span["thread"] and t.terminal["lost"] == {}, (span, t.terminal)
PY

# Texts of a megabyte, in all places.
program long <<'C'
#include <wchar.h>
#include <nvtx3/nvToolsExt.h>
int main(void)
{
	enum { SIZE = 1 << 20 };
	static char text[SIZE + 1], other[SIZE + 1];
	static wchar_t wide[SIZE + 1];
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE };
	nvtxDomainHandle_t domain;

	memset(text, 'x', SIZE);
	memset(other, 'y', SIZE);
	wmemset(wide, 0x20ac, SIZE);
	nvtxMarkA(text);
	nvtxMarkW(wide);
	domain = nvtxDomainCreateA(other);
	nvtxDomainNameCategoryA(domain, 3, text);
	a.category = 3;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(domain, text);
	nvtxDomainMarkEx(domain, &a);
	a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	a.payload.iValue = -7;
	nvtxDomainMarkEx(domain, &a);
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
	return 0;
}
C
transparent long ./long
holds long.jsonl <<'PY'
marks = t.of("op", mark=True)
(scalar,) = t.of("tensor_stats")
(span,) = t.of("span_start", source="nvtx")
assert marks[0]["full_name"] == "x" * (1 << 20) and marks[1]["full_name"] == "\u20ac" * (1 << 20)
assert len(marks) == 3 and marks[2]["op_name"] == marks[0]["op_name"] == scalar["label"] == span["name"]
assert marks[2]["full_domain"] == "y" * (1 << 20) and scalar["mean"] == scalar["payload"] == -7
for e in marks[2], scalar, span:
    assert e["category_name"] == marks[0]["op_name"] and e["domain"] == span["domain"] != "", e["kind"]
assert all(len(e.get(key, "")) < 512 for e in [scalar, span] for key in e if isinstance(e[key], str))
assert t.terminal["lost"] == {}, t.terminal
PY

# Before main and after it, in a forked child with ranges of the parent open, and an end by _exit.
program forks <<'C'
#include <sys/wait.h>
#include <unistd.h>
#include <nvtx3/nvToolsExt.h>
static void annotate(const char *name)
{
	nvtxRangePushA(name);
	nvtxRangePop();
}
__attribute__((constructor)) static void before(void) { annotate("before main"); }
__attribute__((destructor)) static void after(void) { annotate("after main"); }
int main(void)
{
	nvtxDomainHandle_t d = nvtxDomainCreateA("kept");
	nvtxStringHandle_t s = nvtxDomainRegisterStringA(d, "kept too");
	nvtxEventAttributes_t a = { 0 };
	nvtxRangeId_t id = nvtxRangeStartA("parent's");
	int status;

	nvtxRangePushA("around the fork");
	if (!fork()) {
		nvtxRangePop();
		nvtxRangeEnd(id);
		a.version = NVTX_VERSION;
		a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
		a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
		a.message.registered = s;
		nvtxDomainRangePushEx(d, &a);
		nvtxDomainRangePop(d);
		nvtxRangePushA("open in the child");
		_exit(3);
	}
	wait(&status);
	nvtxRangePop();
	nvtxRangeEnd(id);
	return WEXITSTATUS(status);
}
C
timeout "${LIMIT:-20}" env TSAN_OPTIONS="die_after_fork=0:$TSAN_OPTIONS" LD_PRELOAD="$preload" TSTRACE_OUTPUT="$T/fork.%p.jsonl" ./forks
[ $? = 3 ] || fail "forks: another status"
set -- fork.*.jsonl
[ $# = 2 ] || fail "forks: $# traces"
for file; do
	valid "$file"
	holds "$file" <<'PY'
import datetime
ms = t.meta["clock"]["realtime_ns"] // 10**6
when = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ms)
assert t.meta["timestamp"] == when.isoformat(timespec="milliseconds") + "Z", t.meta
names = {e["name"]: e for e in t.of("span_start", source="nvtx")}
ends = {e["id"]: e for e in t.of("span_end")}
if "before main" in names:
    assert set(names) == {"before main", "after main", "around the fork", "parent's"}, names
    assert not any("open_at_end" in e for e in ends.values()), ends
else:
    assert set(names) == {"kept too", "open in the child"} and names["kept too"]["domain"] == "kept", names
    assert ends[names["open in the child"]["id"]].get("open_at_end")
PY
done

# ThreadSanitizer delivers a signal at the next call that blocks, of which the next program has none.
case $sanitizer in *tsan*) exit 0 ;; esac
# In a signal handler that interrupts the same calls; more ranges under way than there is room for.
program signals <<'C'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <nvtx3/nvToolsExt.h>
static volatile int handled;
static void handler(int signal)
{
	nvtxRangeId_t id = nvtxRangeStartA("in a handler");

	(void)signal;
	nvtxRangePushA("in a handler");
	nvtxMarkA("in a handler");
	nvtxRangePop();
	nvtxRangeEnd(id);
	handled++;
}
int main(void)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } };
	static nvtxRangeId_t ids[20000];
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	nvtxRangePushA("first");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20000 || handled < 50; i++) {
		nvtxRangePushA("outer");
		nvtxRangePushA("inner");
		nvtxRangePop();
		nvtxRangePop();
	}
	memset(&often, 0, sizeof(often));
	setitimer(ITIMER_REAL, &often, NULL);
	nvtxRangePop();
	for (int i = 0; i < 20000; i++)
		ids[i] = nvtxRangeStartA("many");
	for (int i = 0; i < 20000; i++)
		nvtxRangeEnd(ids[i]);
	nvtxRangePushA("at the end");
	nvtxRangePop();
	fprintf(fopen("handled", "w"), "%d\n", handled);
	return 0;
}
C
TSTRACE_BUFFER=8M transparent signals ./signals
holds signals.jsonl "$(cat handled)" <<'PY'
spans = {e["id"]: e for e in t.of("span_start")}
assert len([e for e in spans.values() if e["name"] == "many"]) == 16384, "of 20000"
assert t.terminal["lost"]["spans"] == 20000 - 16384, t.terminal
# Each handler's range, span and mark is there or counted.
there = sum(e["name"] == "in a handler" for e in spans.values()) + len(t.of("op", op_name="in a handler"))
assert there + t.terminal["lost"].get("reentrant", 0) == 3 * int(args[0]), (there, t.terminal["lost"], args)
assert [e["parent_id"] for e in spans.values() if e["name"] == "at the end"] == ["s1"], "the stack came down"
assert all(spans[e["parent_id"]]["name"] == "outer" for e in spans.values() if e["name"] == "inner")
assert not any("open_at_end" in e or "end_lost" in e for e in t.of("span_end"))
PY
exit 0
