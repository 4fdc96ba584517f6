# Functions that were inlined are told, innermost first, with the line of each call: also for a stripped program
# whose debug file lies in a folder of TSTRACE_DEBUG_PATH.
. "$(dirname "$0")/lib.sh"
cat >inlined.cc <<'CC'
#include <cstddef>
extern "C" int cudaMalloc(void **, size_t);
extern "C" int cudaFree(void *);
namespace detail {
template <typename T>
static inline __attribute__((always_inline)) T *allocate(size_t count)
{
	void *p = nullptr;
	return cudaMalloc(&p, count * sizeof(T)) ? nullptr : static_cast<T *>(p);	/* line 9 */
}
}
struct Buffer {
	float *data;
	inline __attribute__((always_inline)) explicit Buffer(size_t count)
	    : data(detail::allocate<float>(count)) {}					/* line 15 */
};
namespace model {
__attribute__((noinline)) float *weights(size_t count)
{
	Buffer buffer(count);								/* line 20 */
	asm volatile("" ::"r"(buffer.data) : "memory");
	return buffer.data;
}
}
int main() { return cudaFree(model::weights(1000)) + !model::weights(50); }		/* line 25 */
CC
${CXX:-c++} -O2 -g -Wl,--build-id inlined.cc -o inlined "$B/sim/libcudart.so.13" || exit 1
traced inlined.jsonl ./inlined || fail "the program"
expect() { # WHAT OPTION...
	local what=$1
	shift
	summary inlined.jsonl --json "$@" >json
	/usr/bin/python3 - "$what" <<'PY' || fail "$what: see above"
import json, sys
memory = json.load(open("json"))["memory"]
(leak,) = memory["live_at_end_stacks"]
frames = [(f["function"], (f["file"] or "").split("/")[-1], f.get("line"), f.get("inlined", False)) for f in leak["frames"]]
# What was only ever inlined need not have a name for the linker: then its parameters are not told.
assert "detail::allocate<float>" in frames[0][0] and frames[0][1:] == ("inlined.cc", 9, True), frames
assert frames[1:4] == [
    ("Buffer::Buffer(unsigned long)", "inlined.cc", 15, True),
    ("model::weights(unsigned long)", "inlined.cc", 20, False),
    ("main", "inlined.cc", 25, False)], frames
PY
}
expect "with its own debug information"
summary inlined.jsonl >text
grep -q 'detail::allocate<float>.* at .*inlined.cc:9 (inlined)$' text || { cat text; fail "the text"; }
grep -q 'Buffer::Buffer(unsigned long) at .*inlined.cc:15 (inlined)$' text || { cat text; fail "the text"; }
grep -q 'model::weights(unsigned long) at .*inlined.cc:20$' text || { cat text; fail "the text"; }
# The names of the trace are the linker's: nothing was looked up while the program ran.
grep -q 'weights' inlined.jsonl && fail "a function's name in the trace"

id=$(readelf -n inlined | awk '/Build ID/ { print $3 }')
mkdir -p "debug/.build-id/${id:0:2}" empty
objcopy --only-keep-debug inlined "debug/.build-id/${id:0:2}/${id:2}.debug" && strip inlined || exit 1
export TSTRACE_DEBUG_PATH=$T/empty:$T/debug
expect "stripped, its debug file under TSTRACE_DEBUG_PATH"
rm inlined
expect "gone, its debug file under TSTRACE_DEBUG_PATH"
unset TSTRACE_DEBUG_PATH
expect "gone, its debug file under --debug-dir" --debug-dir "$T/debug"
summary inlined.jsonl >text
grep -q 'inlined+0x[0-9a-f]* (file missing)' text || { cat text; fail "neither program nor debug file"; }
exit 0
