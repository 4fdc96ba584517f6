# 1.08: a plug-in opened RTLD_DEEPBIND, with the runtime it is linked with, goes round every hook.  It runs as ever.  What it
# calls is told by CUPTI, memory too, where the driver loaded us; where nothing opens a session the user is told why.
. "$(dirname "$0")/lib.sh"
need plugin.so basic-shared
[ -z "$sanitizer" ] || skip "a sanitizer's runtime refuses RTLD_DEEPBIND by itself"
cat >host.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
/* host PLUGIN local|deep [own]: with "own" it uses CUDA by itself first. */
int main(int argc, char **argv)
{
	int (*run)(int) = NULL, (*alloc)(void **, unsigned long) = NULL, (*release)(void *) = NULL;
	void *plugin, *runtime, *p = NULL;

	if (argc > 3) {
		runtime = dlopen("libcudart.so.13", RTLD_NOW);
		*(void **)&alloc = dlsym(runtime, "cudaMalloc");
		*(void **)&release = dlsym(runtime, "cudaFree");
		printf("%d\n", alloc(&p, 999) | release(p));
	}
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (strcmp(argv[2], "deep") ? 0 : RTLD_DEEPBIND));
	if (plugin)
		*(void **)&run = dlsym(plugin, "plugin_run");
	printf("%d\n", run ? run(7) : -1);
	return 3;
}
C
${CC:-gcc} -g -O1 host.c -o host -ldl || fail "host.c"
transparent local ./host "$apps/plugin.so" local
undisturbed alone ./host "$apps/plugin.so" deep
cmp local.out alone.out || fail "another result with RTLD_DEEPBIND"
if [ ! -e alone.jsonl ]; then
	"$tstrace" run -o run.jsonl ./host "$apps/plugin.so" deep >out 2>err
	[ $? = 3 ] && grep -q 'RTLD_DEEPBIND' err || { cat err; fail "an empty hand without a reason"; }
fi
transparent mixed ./host "$apps/plugin.so" deep own
CUDA_INJECTION64_PATH=$B/libtstrace.so transparent injected ./host "$apps/plugin.so" deep
for name in mixed injected; do
	holds $name.jsonl local.jsonl $name <<'PY'
assert t.terminal["outcome"] == "complete" and not t.live(), t.terminal
local, own = Trace(args[0]), Counter()
if args[1] == "mixed":
    own = Counter({("alloc", "device", 999, "cuda:0"): 1, ("free", "device", 999, "cuda:0"): 1})
facts = t.facts() - own
assert facts == local.facts(), (facts - local.facts(), local.facts() - facts)
assert [e["op_name"] for e in t.launches()] == ["_Z13plugin_kernelPi"], t.launches()
# A runtime that was there before has the driver's functions from us.
route = "cupti" if args[1] == "injected" else "proc"
assert t.launches()[0]["route"] == route, t.launches()
assert [e["route"] for e in t.allocs(bytes=128)] == [route], t.allocs()
assert len(t.intervals("kernel")) == 1 and "launch" not in t.intervals("kernel")[0]
PY
done
# The event backend has no such callbacks: what goes round the hooks goes unseen, and nothing is invented.
CUDA_INJECTION64_PATH=$B/libtstrace.so TSTRACE_DEVICE=event traced blind.jsonl ./host "$apps/plugin.so" deep >out 2>err
[ $? = 3 ] && cmp alone.plain.out out && cmp alone.plain.err err || fail "blind: another status or output"
valid blind.jsonl
holds blind.jsonl <<'PY'
assert not t.launches() and not t.allocs() and not t.of("device_interval"), t.all
PY
exit 0
