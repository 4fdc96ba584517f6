# 1.14: the program defines every name that we have inside, brings a libunwind of its own that lacks what we need, and
# one of its variables is named like ours: nothing of ours binds to it, it starts and runs, stacks on or off.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
[ -z "$sanitizer" ] || skip "a sanitizer's runtime is linked with the program's names"
cudart . -DFAKE_VIA_PROC
cuda .

# Our functions and variables by name, but those that we export, and what the C start-up files bring.
nm -D --defined-only "$B/libtstrace.so" | awk '{ print $3 }' | sed 's/@.*//' | sort -u >exported
names() { nm --defined-only "$B/libtstrace.so" | awk -v types="$1" 'index(types, $2) && $3 ~ /^[a-zA-Z][a-zA-Z0-9_]*$/ { print $3 }' |
	sort -u | comm -23 - exported | grep -v -x -e main -e 'environ' -e 'deregister_tm_clones' -e 'register_tm_clones' \
		-e frame_dummy -e 'completed' -e double -e int -e float -e char -e long -e auto -e register; }
names tT >functions
names dDbBrR | comm -23 - functions >variables
for more in log_write json_escape hash_insert; do grep -qx $more functions || echo $more >>functions; done
[ "$(wc -l <functions)" -gt 300 ] || fail "few names: $(wc -l <functions)"
# What the C library has under one of these names is not the program's to define.
nm -D --defined-only "$(ldd "$B/libtstrace.so" | awk '/libc\.so/ { print $3 }')" | awk '{ sub("@.*", "", $3); print $3 }' | sort -u >libc
{
	echo '#define TRAP(name) void name(void) { __builtin_trap(); }'
	sort -u functions | comm -23 - libc | sed 's/.*/TRAP(&)/'
	sort -u variables | comm -23 - libc | sed 's/.*/char &[4096] = { 1 };/'
} >names.c
compile -fno-builtin -w -c names.c -o names.o || exit 1

# It has the soname, and neither unw_set_cache_size nor anything else but these.
mkdir own
library own/libunwind-x86_64.so.8 -Wl,-soname,libunwind-x86_64.so.8 <<'C'
int own_unwind(void) { return 42; }
int unw_backtrace(void **buffer, int size) { (void)buffer, (void)size; __builtin_trap(); }
C
library own/libunwind.so.8 -Wl,-soname,libunwind.so.8 <<'C'
int unw_backtrace(void **buffer, int size) { (void)buffer, (void)size; __builtin_trap(); }
C
cat >main.c <<'C'
#include "fake.h"
int own_unwind(void);
int main(void)
{
	void *p = NULL;
	int e = 0;

	for (int i = 0; i < 3; i++) {
		e |= cudaMalloc(&p, 333);
		e |= cudaFree(p);
	}
	printf("%d %d\n", e, own_unwind());
	return 0;
}
C
echo 'int own_unwind(void) { return 42; }' >own.c
link="-rdynamic -L. -Wl,--no-as-needed names.o -l:libcudart.so.12"
program names own.c $link <main.c
program unwind $link -Lown -Wl,-rpath,'$ORIGIN/own' -l:libunwind-x86_64.so.8 -l:libunwind.so.8 <main.c
for depth in 0 32; do
	TSTRACE_STACKS=$depth transparent names-$depth ./names
	holds names-$depth.jsonl $depth <<'PY'
assert len(t.allocs()) == 3 and len(t.frees()) == 3 and not t.live() and not t.terminal["lost"], t.terminal
assert ("stack" in t.allocs()[0]) == (args[0] != "0"), t.allocs()
PY
	# The program gets its own libunwind.  We have no use for it: no stacks, and one line that says so.
	rm -f unwind.jsonl
	run ./unwind >plain || fail "unwind: untraced"
	TSTRACE_STACKS=$depth traced unwind.jsonl ./unwind >out 2>err || { cat err; fail "unwind: status $?"; }
	cmp plain out || fail "unwind: another output"
	grep -v '^tstrace: .*stacks' err && fail "unwind: stderr"
	[ "$(wc -l <err)" -le 1 ] || fail "unwind: more than a line"
	valid unwind.jsonl
	holds unwind.jsonl <<'PY'
assert len(t.allocs()) == 3 and len(t.frees()) == 3 and not t.live(), t.all
PY
done
grep -q . err || fail "unwind: a run without stacks does not say so"

# What the program can bind to of ours is the table of hooks and the public API, and that is all.
(cd "$e2e/../.." && scripts/check-exports "$B") || fail "exports"
exit 0
