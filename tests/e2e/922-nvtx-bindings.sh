# NVTX from C++, whose ranges end with their scope, and from Python, which opens a library of NVTX and calls it by name:
# the first and the second version of it.  One process with several copies of NVTX has one trace.
. "$(dirname "$0")/lib.sh"
eval "$("$e2e/../../scripts/find-cuda" | sed -n 's/^CUDA_INC := \(.*\)/cuda_inc="\1"/p')"
[ -e "$cuda_inc/nvtx3/nvToolsExt.h" ] || skip "no header of NVTX"

# The libraries: one is NVTX 3 as a library; the other has NVTX 2's functions and asks for a tool as version 2 does,
# with a table that ends before the newer functions.
cat >v3.c <<'C'
#define NVTX_EXPORT_API
#include <nvtx3/nvToolsExt.h>
C
cp "$e2e/fakes/nvtx2.c" .
for version in 2 3; do
	mkdir -p v$version
	[ $version = 2 ] && source=nvtx2.c || source=v3.c
	${CC:-gcc} -shared -fPIC -O1 -Wall -isystem "$cuda_inc" $source -o v$version/libnvToolsExt.so.1 -ldl || fail "libnvToolsExt $version"
done
cat >annotated.py <<'PY'
import ctypes, sys, threading
nvtx = ctypes.CDLL(sys.argv[1])
nvtx.nvtxRangePushW.argtypes = [ctypes.c_wchar_p]
nvtx.nvtxRangeStartA.restype = ctypes.c_uint64
nvtx.nvtxRangeEnd.argtypes = [ctypes.c_uint64]
nvtx.nvtxDomainCreateA.restype = ctypes.c_void_p
results = [nvtx.nvtxRangePushA(b"epoch"), nvtx.nvtxRangePushW("Gr\u00f6\u00dfe")]
nvtx.nvtxMarkA(b"mark")
results += [nvtx.nvtxRangePop(), nvtx.nvtxRangePop(), nvtx.nvtxRangePop()]
id = nvtx.nvtxRangeStartA(b"loader")
worker = threading.Thread(target=lambda: nvtx.nvtxRangeEnd(id))
worker.start()
worker.join()
print(results)
PY
for version in 2 3; do
	transparent python$version /usr/bin/python3 annotated.py "$T/v$version/libnvToolsExt.so.1"
	holds python$version.jsonl <<'PY'
names = {e["name"]: e for e in t.of("span_start", source="nvtx")}
assert set(names) == {"epoch", "Gr\u00f6\u00dfe", "loader"}, names
assert names["Gr\u00f6\u00dfe"]["parent_id"] == names["epoch"]["id"]
assert names["loader"]["parent_id"] == "s1" and names["loader"]["end_thread"] != names["loader"]["thread"]
assert [e["op_name"] for e in t.of("op", mark=True)] == ["mark"]
PY
done

if [ -e "$cuda_inc/nvtx3/nvtx3.hpp" ] && ${CXX:-g++} --version >/dev/null 2>&1; then
	cat >scoped.cpp <<'C'
#include <dlfcn.h>
#include <cstdio>
#include <nvtx3/nvtx3.hpp>
struct library { static constexpr char const *name{"a library"}; };
struct fast { static constexpr char const *message{"registered once"}; };
struct io { static constexpr char const *name{"input"}; static constexpr uint32_t id{3}; };
static void work()
{
	NVTX3_FUNC_RANGE_IN(library);
	nvtx3::scoped_range_in<library> r{nvtx3::registered_string_in<library>::get<fast>(), nvtx3::rgb{1, 2, 3},
					  nvtx3::named_category_in<library>::get<io>(), nvtx3::payload{2.5}};
}
int main(int, char **argv)
{
	nvtx3::unique_range u{"unique"};
	{
		nvtx3::scoped_range r{"scoped"};
		for (int i = 0; i < 3; i++)
			work();
	}
	nvtx3::mark("a mark");
	/* Another copy of NVTX. */
	void *other = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	auto push = (int (*)(const char *))dlsym(other, "nvtxRangePushA");
	auto pop = (int (*)(void))dlsym(other, "nvtxRangePop");
	nvtx3::scoped_range r{"mine"};
	printf("%d\n", push("the other's"));
	printf("%d\n", pop());
	return 0;
}
C
	${CXX:-g++} -std=c++17 -O1 -isystem "$cuda_inc" scoped.cpp -o program -ldl || fail "scoped.cpp does not compile"
	transparent scoped ./program "$T/v2/libnvToolsExt.so.1"
	holds scoped.jsonl <<'PY'
names = lambda name: t.of("span_start", name=name)
scoped, = names("scoped")
assert len(names("work")) == 3 and all(e["parent_id"] == scoped["id"] and e["domain"] == "a library" for e in names("work"))
fast = names("registered once")
assert [e["parent_id"] for e in fast] == [e["id"] for e in names("work")], fast
assert all(e["color"] == "0xff010203" and e["category_name"] == "input" and e["category"] == 3 and e["payload"] == 2.5
           for e in fast), fast
assert names("unique")[0]["parent_id"] == "s1"
assert names("the other's")[0]["parent_id"] == names("mine")[0]["id"]
PY
fi
exit 0
