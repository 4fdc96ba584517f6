# 6.17: a frame is a module, known by its build-id, and an offset: what was unloaded, replaced, deleted or stripped
# later never lends its names to another, and two runs at other addresses have the same frames.
. "$(dirname "$0")/lib.sh"
CC=${CC:-cc}
for name in first second; do
	cat >$name.c <<C
extern int cudaMalloc(void **, unsigned long);
__attribute__((noinline)) void *${name}_buffer(unsigned long bytes)
{
	void *p = 0;
	cudaMalloc(&p, bytes);
	return p;
}
void *work(void)
{
	void *p = ${name}_buffer($([ $name = first ] && echo 111111 || echo 222222));
	__asm__ volatile("" : "+r"(p));
	return p;
}
C
	$CC -O2 -g -fPIC -shared -Wl,--build-id $name.c -o lib$name.so "$B/sim/libcudart.so.13" || exit 1
done
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *handle = dlopen(argv[i], RTLD_NOW);
		void *(*work)(void) = handle ? (void *(*)(void))dlsym(handle, "work") : 0;

		if (!work || !work())
			return puts(dlerror() ? "not loaded" : "no memory"), 1;
		dlclose(handle);
	}
	return 0;
}
C
$CC -O1 -g -fPIE -pie host.c -o host -ldl || exit 1
for run in one two; do
	traced $run.jsonl ./host ./libfirst.so ./libsecond.so || fail "the program"
done
python3 - <<'PY' || fail "two runs: see above"
import json
def frames(path):
    modules, stacks = {}, {}
    for l in open(path):
        e = json.loads(l)
        for m in e.get("modules", []):
            modules[m["id"]] = (m["path"].split("/")[-1], m["build_id"])
        if e["kind"] == "memory" and "frames" in e:
            stacks[e["bytes"]] = [(modules[int(f.split("+")[0])], f.split("+")[1]) for f in e["frames"]]
    return stacks
one, two = frames("one.jsonl"), frames("two.jsonl")
assert set(one) == {111111, 222222} and one == two, (one, two)
assert one[111111][0][0][0] == "libfirst.so" and one[222222][0][0][0] == "libsecond.so", one
PY
expect() { # BYTES FUNCTION-OR-NOTE of the innermost frame; the other library's names never
	summary one.jsonl --json >json
	python3 - "$@" <<'PY' || fail "$*: see above"
import json, sys
stacks = {s["bytes"]: s["frames"] for s in json.load(open("json"))["memory"]["live_at_end_stacks"]}
inner = stacks[int(sys.argv[1])][0]
assert sys.argv[2] in (inner["function"], inner.get("note")), inner
other = "second" if sys.argv[1] == "111111" else "first"
assert not [f for f in stacks[int(sys.argv[1])] if other in (f["function"] or "")], stacks
PY
}
expect 111111 first_buffer
expect 222222 second_buffer
strip libsecond.so		# its exported names are left
expect 222222 second_buffer
mv libfirst.so gone.so && cp libsecond.so libfirst.so
expect 111111 "file changed"
rm libfirst.so
expect 111111 "file missing"
expect 222222 second_buffer
exit 0
