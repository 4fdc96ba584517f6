# 2.17: stacks are taken while other threads load and unload libraries, throw, and call us from inside a walk over the
# loaded objects: nothing hangs, and a stack that cannot be taken is counted.
. "$(dirname "$0")/lib.sh"
echo 'int something;' | ${CC:-gcc} -shared -fPIC -x c - -o other.so || fail "does not compile"
cat >loads.cc <<'C'
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <stdexcept>
#include <thread>
#include <vector>
extern "C" int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p);
static std::atomic<bool> stop;
static void use()
{
	void *p;
	if (cudaMalloc(&p, 64) || cudaFree(p))
		std::abort();
}
static int visit(dl_phdr_info *, size_t, void *)
{
	use();
	return 1;
}
static void loader()
{
	while (!stop)
		if (void *handle = dlopen("./other.so", RTLD_NOW))
			dlclose(handle);
}
static void thrower()
{
	while (!stop)
		try {
			throw std::runtime_error("x");
		} catch (const std::exception &) {
		}
}
int main()
{
	std::vector<std::thread> threads;
	use();  // the runtime itself opens libraries now: never inside a walk
	threads.emplace_back(loader);
	threads.emplace_back(thrower);
	for (int kind = 0; kind < 2; kind++)
		threads.emplace_back([kind] {
			for (int i = 0; i < 150; i++)
				if (kind)
					dl_iterate_phdr(visit, nullptr);
				else
					use();
		});
	threads[2].join();
	threads[3].join();
	stop = true;
	threads[0].join();
	threads[1].join();
	std::puts("done");
}
C
${CXX:-g++} -g -O1 loads.cc -o loads -L"$B/sim" -l:libcudart.so.13 -ldl -lpthread || fail "does not compile"
LIMIT=90 TSTRACE_WAIT_MS=60000 transparent loads ./loads
holds loads.jsonl <<'PY'
assert len(t.allocs()) == len(t.frees()) == 301, len(t.allocs())
lost = t.terminal["lost"]
assert set(lost) <= {"stack_unsafe"}, lost
assert sum("stack" not in e for e in t.of("memory")) == lost.get("stack_unsafe", 0), lost
assert any("stack" in e for e in t.allocs())
PY
exit 0
