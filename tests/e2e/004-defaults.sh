# 7.03, 5.09: LD_PRELOAD alone is enough: the trace lies where the user stood, and nothing is printed.
. "$(dirname "$0")/lib.sh"
need basic-static
mkdir here && cd here || exit 1
out=$(env -i LD_LIBRARY_PATH="$B/sim" LD_PRELOAD="$preload" ${sanitizer:+ASAN_OPTIONS=detect_leaks=0} "$apps/basic-static" 2>../err)
[ "$out" = "host[1023] = 1023" ] || fail "stdout: $out"
[ ! -s ../err ] || { cat ../err; fail "stderr is not empty"; }
set -- *
[ $# = 1 ] && [[ $1 =~ ^tstrace\.basic-static\.[0-9]+\.jsonl$ ]] || fail "files: $*"
valid "$1"
holds "$1" <<'PY'
assert [e["bytes"] for e in t.of("memory")] == [4096, 4096]
assert all("stack" in e for e in t.of("memory")), "stacks are on by default"
PY
# Not one descriptor or variable of the program is changed, with stacks on.
cat >../descriptors.py <<'PY'
import ctypes, os, resource
own = ("LD_PRELOAD", "TSTRACE_OUTPUT", "TSTRACE_STACKS")
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
own_from = min(512, limit - limit // 8)
low = lambda: sorted(int(f) for f in os.listdir("/proc/self/fd") if int(f) < own_from)
rt = ctypes.CDLL("libcudart.so.13")
p = ctypes.c_void_p()
print(sorted((k, v) for k, v in os.environ.items() if k not in own), low())
print(rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(64)))
f = open("/dev/null")
print(f.fileno(), low(), rt.cudaFree(p))
for fd in (int(f) for f in os.listdir("/proc/self/fd")):
    try:
        assert fd < own_from or not os.get_inheritable(fd), "descriptor %d would be inherited" % fd
    except OSError:
        pass
PY
cd .. || exit 1
transparent descriptors /usr/bin/python3 descriptors.py
[ "$(wc -l <descriptors.out)" = 3 ] || fail "descriptors"
# Nor where few are allowed.
for limit in 512 256 64; do
	(ulimit -n $limit && transparent "descriptors-$limit" /usr/bin/python3 descriptors.py) || exit 1
	[ "$(wc -l <"descriptors-$limit.out")" = 3 ] || fail "descriptors, $limit allowed"
done
exit 0
