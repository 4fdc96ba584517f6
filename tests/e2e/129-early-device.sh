# 1.28: a library's constructor calls CUDA before any constructor of ours ran: what the backends and the hooks' tables
# need is there all the same.
. "$(dirname "$0")/lib.sh"
sim_program libearly.so -shared -fPIC <<'C'
int cudaMemset(void *, int, unsigned long);
__attribute__((constructor)) static void early(void)
{
	void *p;

	if (cudaMalloc(&p, 4096) || cudaMemset(p, 0, 4096) || cudaDeviceSynchronize())
		__builtin_trap();
}
C
sim_program early -L. -Wl,--no-as-needed -l:libearly.so -Wl,-rpath,"$T" <<'C'
int main(void) { return cudaDeviceSynchronize(); }
C
for backend in cupti event; do
	TSTRACE_DEVICE=$backend transparent $backend ./early
	holds $backend.jsonl $backend <<'PY'
assert t.terminal["backend"] == args[0], t.terminal
assert [e["api"] for e in t.allocs()] == ["cudaMalloc"] and len(t.of("op", op_name="cudaMemset")) == 1
assert len(t.of("device_interval", activity="memset")) == 1, t.terminal
PY
done
exit 0
