# The toolkit's own CUPTI without a genuine driver: it refuses, nothing else changes, and the trace says which backend
# ran and why.
. "$(dirname "$0")/lib.sh"
. "$e2e/real.sh"
need demo-shared refused-shared
no_real_driver
cupti=$(real_library libcupti) || { echo "$cupti"; exit 77; }
runtime=$(real_library libcudart) || { echo "$runtime"; exit 77; }
simulated=$LD_LIBRARY_PATH
mkdir real && ln -s "$runtime" "real/$(basename "$runtime" | sed 's/\(so\.[0-9]*\).*/\1/')" || exit 1

# On the simulated device, by TSTRACE_CUPTI.  CUPTI asks the driver for what a simulated one does not have, and that
# driver says so on stderr: it is the one line that is not there without us.
run "$apps/demo-shared" >plain || fail "demo"
backend() { # NAME BACKEND WORDS...; the variables in the environment
	local name=$1 kind=$2 word
	shift 2
	TSTRACE_CUPTI=$cupti traced $name.jsonl "$apps/demo-shared" >out 2>err || { cat err; fail "$name: status $?"; }
	cmp plain out || fail "$name: stdout"
	grep -v -e '^simulated CUDA driver: cuGetExportTable ' -e '^tstrace: TSTRACE_DEVICE=cupti: CUPTI refused' err &&
		fail "$name: stderr"
	valid $name.jsonl
	holds $name.jsonl $kind "$@" <<'PY'
kind, words = args[0], args[1:]
assert t.meta["backend"] == kind == t.terminal["backend"], t.meta
assert all(w in t.meta["backend_reason"] for w in words), t.meta["backend_reason"]
assert t.terminal["outcome"] == "complete", t.terminal
assert len(t.launches()) == 48 and len(t.allocs()) == 8 + 12 + 4, "calls and memory are recorded all the same"
assert len(t.intervals("kernel")) == (48 if kind == "event" else 0), len(t.intervals("kernel"))
PY
	summary $name.jsonl >out
	for word; do
		grep '^Backend' out | grep -q "$kind: .*$word" || { cat out; fail "$name: the summary does not say why"; }
	done
}
backend auto event 'CUPTI refused' CUPTI_ERROR
grep -q '^simulated CUDA driver: cuGetExportTable' err || fail "auto: this was not the toolkit's CUPTI"
TSTRACE_DEVICE=cupti backend only off 'CUPTI refused' CUPTI_ERROR
TSTRACE_DEVICE=event backend event event 'TSTRACE_DEVICE=event'

# A driver without a device, and none at all.
LIMIT=30
TSTRACE_CUPTI=$cupti TSTRACE_SIM_DEVICES=0 traced none.jsonl "$apps/refused-shared" >out 2>err
[ $? = 3 ] && grep -q '^cudaMalloc: 100 cudaErrorNoDevice' out || { cat out err; fail "no device"; }
valid none.jsonl
holds none.jsonl <<'PY'
assert t.meta["backend"] != "cupti" and "CUPTI refused" in t.meta["backend_reason"], t.meta
assert not t.of("device_interval")
PY
export LD_LIBRARY_PATH=$T/real
TSTRACE_CUPTI=$cupti transparent nothing "$apps/refused-shared"
holds nothing.jsonl <<'PY'
assert t.meta["backend"] == "off" and "no CUDA driver" in t.meta["backend_reason"], t.meta
PY

# A program that uses that CUPTI by itself gets what it always got, and its copy is the one that we ask.
inc=$(cd "$e2e/../.." && scripts/find-cuda | sed -n 's/^CUPTI_INC := //p; s/^CUDA_INC := //p' | sed 's/^/-I/')
cat >own.c <<'C'
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define GET(name) __typeof__(&name) name##_ = (__typeof__(&name))dlsym(cupti, #name)
static void CUPTIAPI callback(void *u, CUpti_CallbackDomain d, CUpti_CallbackId id, const void *data)
{
	(void)u, (void)d, (void)id, (void)data;
}
static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max)
{
	*buffer = malloc(*size = 1 << 16), *max = 0;
}
static void CUPTIAPI completed(CUcontext c, uint32_t s, uint8_t *buffer, size_t size, size_t valid)
{
	(void)c, (void)s, (void)size;
	printf("%zu bytes\n", valid);
	free(buffer);
}
int main(int argc, char **argv)
{
	void *cupti = dlopen(argv[1], RTLD_NOW), *cudart = dlopen(argv[2], RTLD_NOW), *p = 0;
	CUpti_SubscriberHandle subscriber = 0;
	int (*allocate)(void **, size_t);

	(void)argc;
	if (!cupti || !cudart)
		return 2;
	*(void **)&allocate = dlsym(cudart, "cudaMalloc");
	GET(cuptiSubscribe);
	GET(cuptiActivityRegisterCallbacks);
	GET(cuptiActivityEnable);
	GET(cuptiActivityFlushAll);
	GET(cuptiUnsubscribe);
	for (int round = 0; round < 2; round++) {
		printf("subscribe %d\n", cuptiSubscribe_(&subscriber, callback, 0));
		printf("register %d\n", cuptiActivityRegisterCallbacks_(requested, completed));
		printf("enable %d\n", cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
		printf("allocate %d\n", allocate(&p, 64) != 0);
		printf("flush %d\n", cuptiActivityFlushAll_(0));
		printf("unsubscribe %d\n", subscriber ? cuptiUnsubscribe_(subscriber) : -1);
	}
	return 5;
}
C
${CC:-gcc} -D_GNU_SOURCE $inc own.c -o own -ldl || fail "own.c"
transparent own-nothing ./own "$cupti" "$runtime"
grep -q '^allocate 1' own-nothing.out || fail "a driver was found"
export LD_LIBRARY_PATH=$simulated
undisturbed own-simulated ./own "$cupti" "$B/sim/libcudart.so.13"
[ "$(grep -c '^allocate 0' own-simulated.out)" = 2 ] || { cat own-simulated.out; fail "the stand-in runtime did not run"; }
holds own-simulated.jsonl "$cupti" <<'PY'
assert t.meta["backend"] != "cupti" and t.meta["backend_reason"], t.meta
assert [(e["bytes"], e["api"]) for e in t.allocs()] == [(64, "cudaMalloc")] * 2, t.of("memory")
PY
exit 0
