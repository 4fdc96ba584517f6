# 3.05: freeing NULL begins many programs: it is passed on, succeeds, and is no unmatched free.
. "$(dirname "$0")/lib.sh"
cat >nothing.py <<'PY'
from cuda import *
print(free(0), mem_free(0), rt.cudaFreeHost(None), drv.cuMemFreeHost(None))
print(malloc(16)[0])
PY
transparent nothing /usr/bin/python3 nothing.py
holds nothing.jsonl <<'PY'
assert [e["action"] for e in t.of("memory")] == ["alloc"], t.of("memory")
assert "unmatched_frees" not in t.terminal and not t.terminal["lost"], t.terminal
PY
exit 0
