# 1.16: libraries have used up nearly all of the static TLS when a program opens the library for its spans, without a
# preload: it loads, and the session works.
. "$(dirname "$0")/lib.sh"
[ -z "$sanitizer" ] || skip "a sanitizer's runtime must be preloaded"
piece=64        # bytes that each of them takes
left=5          # pieces that are left for us
mkdir tls && for i in $(seq 80); do
	echo "__thread char piece[$piece] __attribute__((tls_model(\"initial-exec\"), aligned(16))) = { 1 };
	char *get(void) { return piece; }" | ${CC:-gcc} -shared -fPIC -x c - -o tls/$i.so || fail "does not compile"
done
cat >spans.py <<'PY'
import ctypes, sys
library, most = sys.argv[1], int(sys.argv[2])
taken = 0
for i in range(1, most + 1):
    try:
        ctypes.CDLL("tls/%d.so" % i)
        taken = i
    except OSError:
        break
if not library:
    print(taken)
    sys.exit()
assert taken == most, "%d of %d" % (taken, most)
t = ctypes.CDLL(library)
t.tstrace_begin_span.restype = ctypes.c_uint64
span = t.tstrace_begin_span(None, b"one", 0)
print(span != 0, t.tstrace_end_span(None, ctypes.c_uint64(span)), t.tstrace_finish(None, None))
PY
most=$(/usr/bin/python3 spans.py "" 80) || fail "the pieces"
[ "$most" -gt "$left" ] && [ "$most" -lt 80 ] || fail "static TLS for $most pieces: another libc than this test was made for"
TSTRACE_OUTPUT=$T/spans.jsonl /usr/bin/python3 spans.py "$B/libtstrace.so" $((most - left)) >out 2>err || { cat err; fail "does not load"; }
echo "True 0 0" | cmp - out || { cat out; fail "the session does not work"; }
[ ! -s err ] || { cat err; fail "stderr"; }
valid spans.jsonl
holds spans.jsonl <<'PY'
assert [e["name"] for e in t.of("span_start")].count("one") == 1, t.all
PY
exit 0
