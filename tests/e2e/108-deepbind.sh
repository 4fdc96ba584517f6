# 1.08: a plug-in opened with RTLD_DEEPBIND binds past every hook.  Where its runtime is the one that the program uses
# already, its calls are seen as those of the driver, once each; where nothing can be seen, it is said that nothing was.
. "$(dirname "$0")/lib.sh"
need plugin.so
[ -z "$sanitizer" ] || skip "the sanitizers refuse RTLD_DEEPBIND"
cat >deep.py <<'PY'
import ctypes, os, sys
if sys.argv[2] == "known":
    from cuda import *
    print(malloc(4096)[0])
print(ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_DEEPBIND).plugin_run(7))
PY
transparent known /usr/bin/python3 deep.py "$apps/plugin.so" known
holds known.jsonl <<'PY'
assert Counter(e["bytes"] for e in t.allocs()) == {4096: 1, 128: 1}, t.allocs()
assert [e["bytes"] for e in t.frees()] == [128] and len(t.launches()) == 1 and len(t.intervals("kernel")) == 1
assert not [e for e in t.of("device_interval") if "launch" in e] and not t.terminal["lost"], t.terminal
PY
[ "$(cat known.out)" = "$(printf '0\n7')" ] || fail "the plug-in's result"

run "$tstrace" run -o "$T/alone.jsonl" --sim /usr/bin/python3 deep.py "$apps/plugin.so" alone >out 2>err || fail "alone: status $?"
[ "$(cat out)" = 7 ] || fail "alone: the plug-in's result"
if [ -e alone.jsonl ]; then	# a route that we did not have when this was written
	valid alone.jsonl
	holds alone.jsonl <<'PY'
assert [e["bytes"] for e in t.allocs()] == [128] and len(t.intervals("kernel")) == 1, "half a trace"
PY
else
	grep -q 'nothing was captured: .*RTLD_DEEPBIND' err || { cat err; fail "alone: not said"; }
fi
exit 0
