# 5.03, 5.04, 5.05: numbers are exact whatever their size and the locale, and no number is Not a Number.
. "$(dirname "$0")/lib.sh"
mkdir locale && localedef -i de_DE -f UTF-8 "$T/locale/de_DE.UTF-8" 2>/dev/null
export LOCPATH=$T/locale
exec python3 - <<'PY'
import locale
from made import *

def stats(**more):
    return dict(dict(kind="tensor_stats", span_id="s1", label="l", shape=[], dtype="f64", elements=1, non_finite=0, rms=1.0, abs_max=1.0, mean=1.0), **more)

# 5.03 finite values of every size are read; what JSON has no word for makes a line no event
good = [stats(mean=v) for v in (-0.0, 5e-324, 2.2250738585072014e-308, 1e308, -1.7976931348623157e308, 3, 12345678901234567890)]
data = trace(good)
assert summary(data)["events"]["tensor_stats"] == len(good)
for word in (b"NaN", b"Infinity", b"-Infinity", b"nan", b"1e999", b"-1e400", b"0x10", b"1,5", b"+1", b".5", b"1.", b"01", b"null"):
    data = trace([line(stats()).replace(b'"mean":1.0', b'"mean":' + word)])
    status, out, err = tstrace("summary", data, "--json")
    found = json.loads(out)
    assert status == 0 and found["losses"]["bad_lines"] == 1 and "tensor_stats" not in found["events"], (word, found["losses"])
    assert tstrace("check", data)[0] == 1, word

# 5.04 a decimal comma changes neither what is read nor what is written
data = trace([interval(0, 1_500_000), stats(mean=0.25), interval(5 * 10**6, 10**6, activity="memcpy", activity_copy_kind=1, bytes=1_500_000),
              memory("alloc", 1, "a", 1536)])
plain = tstrace("summary", data, "--json"), tstrace("summary", data), tstrace("check", data)
german = dict(os.environ, LC_ALL="de_DE.UTF-8")
try:
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    assert locale.localeconv()["decimal_point"] == ","
    locale.setlocale(locale.LC_ALL, "C")
except locale.Error:
    print("no German locale: only half of 5.04 was tried")
else:
    comma = tstrace("summary", data, "--json", env=german), tstrace("summary", data, env=german), tstrace("check", data, env=german)
    assert comma == plain, comma
assert json.loads(plain[0][1])["copies"][0]["gigabytes_per_second"] == 1.5 and b"1.500 ms" in plain[1][1] and b"1.50 KiB" in plain[1][1]

# 5.05 every digit of an integer above 2^53; above 2^63-1 as a string
for size in (2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1):
    found = summary(trace([op("cudaMalloc", 5, error=2, bytes=size, memory_kind="device"), memory("alloc", 2**53 + 1, "a", size)]))["memory"]
    want = size if size < 2**63 else str(size)
    assert found["failed_allocations"][0]["asked_bytes"] == want and found["peak_bytes"] == want, found
    assert found["peak_ns"] == 2**53 + 1
    text = summary(trace([op("cudaMalloc", 5, error=2, bytes=size, memory_kind="device")]), "--rows", "3")
    assert "(%d bytes," % size in text, text
for size in (2**64, 10**30, -1, 1.5):
    data = trace([line(memory("alloc", 5, "a", 5)).replace(b'"bytes":5', b'"bytes":%s' % str(size).encode())])
    assert json.loads(tstrace("summary", data, "--json")[1])["losses"]["bad_lines"] == 1, size
found = summary(trace([memory("alloc", 5, "a", 5, stack=1, frames=["0+0xffff8000deadbeef"])]))["memory"]["peak_stacks"]
assert found[0]["frames"][0]["offset"] == "0xffff8000deadbeef", found
PY
