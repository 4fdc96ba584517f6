# 6.17: frames get function, file and line from the module with the right build-id, and never from another file.
B=$(cd "${B:-build}" && pwd) || exit 1
T=${T:-$(mktemp -d)}
cd "$T" || exit 1
fail() { echo "905: $*"; exit 1; }
CC=${CC:-cc}
cat >prog.c <<'C'
#include <stdio.h>
static __attribute__((noinline)) void *hidden_step(void)
{
	return __builtin_return_address(0);
}
__attribute__((noinline)) void *exported_step(void)
{
	void *address = hidden_step();
	return address;
}
int main(void) { printf("%p %p\n", exported_step(), (void *)main); return 0; }
C
$CC -g -O1 -fPIE -pie -rdynamic -fno-optimize-sibling-calls -Wl,--build-id prog.c -o prog || exit 1
# The call's last byte in exported_step, which is what a frame holds, as an offset from the load base, without running under a fixed address.
set -- $(setarch -R ./prog 2>/dev/null || ./prog)
main=0x$(nm prog | awk '$3 == "main" { print $1 }')
offset=$(printf '0x%x' $(($1 - 1 - $2 + main)))
id=$(readelf -n prog | awk '/Build ID/ { print $3 }')
[ -n "$id" ] || fail "no build-id"

trace() { # PATH BUILD_ID
	cat <<J
{"kind":"meta","schema":"candle-graph/trace/10","run_id":"r","correlation_id":"c","entrypoint":"e","phase":"infer","timestamp":"t","capture_step":1,"warmup_steps":0,"device":"cuda:0","timing_mode":"host","capture_contract":{"measurement_scope":"unknown","operations":"none","logical_memory":"none","physical_memory":"none","device_timing":"none"},"tags":{}}
{"kind":"span_start","id":"s1","name":"e","start_ns":0,"span_kind":"function","measured":true}
{"kind":"memory","timestamp_ns":5,"storage_id":"a","tensor_id":"a","span_id":"s1","device":"cuda:0","bytes":64,"action":"alloc","dtype":"u8","memory_kind":"device","stack":0,"frames":["1+$offset"],"modules":[{"id":1,"path":"$1","build_id":"$2"}]}
{"kind":"span_end","id":"s1","duration_ns":9}
{"kind":"terminal","outcome":"complete","timestamp_ns":9}
J
}
look() { # PATH BUILD_ID [OPTIONS]
	local path=$1 build_id=$2
	shift 2
	trace "$path" "$build_id" | "$B/tstrace" summary "$@" - >out 2>err || { cat err; fail "summary failed"; }
}
look "$T/prog" "$id"
grep -q "exported_step at .*prog.c:8$" out || { cat out; fail "function, file and line"; }

# another build at the same path names nothing
look "$T/prog" "0123456789abcdef0123456789abcdef01234567"
grep -q exported_step out && fail "named from the wrong file"
grep -q "prog+$offset (file changed)" out || { cat out; fail "no offset for a changed file"; }
look "$T/gone" "$id"
grep -q "gone+$offset (file missing)" out || { cat out; fail "no offset for a missing file"; }

# stripped, its debug file found by build-id, by --debug-dir, also when the program is gone
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug prog "debug/.build-id/${id:0:2}/${id:2}.debug" || exit 1
cp prog full && strip prog
look "$T/prog" "$id" --debug-dir "$T/debug"
grep -q "exported_step at .*prog.c:8$" out || { cat out; fail "stripped, with --debug-dir"; }
look "$T/gone" "$id" --debug-dir "$T/debug"
grep -q "exported_step at .*prog.c:8$" out || { cat out; fail "program gone, with --debug-dir"; }
# stripped, no debug file: the dynamic symbol table
look "$T/prog" "$id"
grep -q "exported_step in prog" out || { cat out; fail "stripped: dynamic symbols"; }
# .gnu_debuglink beside it
cp "debug/.build-id/${id:0:2}/${id:2}.debug" prog.debug && objcopy --add-gnu-debuglink=prog.debug prog || exit 1
look "$T/prog" "$id"
grep -q "exported_step at .*prog.c:8$" out || { cat out; fail "debug link"; }
exit 0
