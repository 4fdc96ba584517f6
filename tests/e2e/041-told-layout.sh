# What CUPTI's callbacks tell is read as a structure of a row's parameters: for each callback that is enabled, and has a row,
# that is the structure of CUPTI's own headers, by size, number of fields and where each of them lies.  And of each function
# that a hook records or remembers a callback is asked for, where CUPTI has one.
. "$(dirname "$0")/lib.sh"
root=$(cd "$e2e/../.." && pwd)
eval "$("$root/scripts/find-cuda" 2>/dev/null | sed 's/ := /=/')"
[ -n "${CUPTI_INC:-}" ] || skip "no CUDA headers"
cat "$CUPTI_INC"/generated_cuda_meta.h "$CUPTI_INC"/generated_cuda_runtime_api_meta.h "$CUPTI_INC"/generated_cuda*removed_meta.h \
	>metas 2>/dev/null
# Rows with a structure: name, then its fields in their order.
printf '#define TS_UN(...) __VA_ARGS__\n#define TS_RT(n, p, a, ...) @n TS_UN a\n#define TS_RT_S(n, s, p, a, ...) @n TS_UN a @n##s TS_UN a
#define TS_RT_OLD TS_RT\n#define TS_RT_OLD_S TS_RT_S\n#define TS_RT_WORDS(...)\n#define TS_RT_WORDS_S(...)\n#define TS_RT_WORDS9_S(...)
#define TS_SPECIAL(n)\n#define TS_DRV(n, b, v, p, a, ...) @n TS_UN a\n#define TS_DRV_S(n, b, v, s, vs, p, a, ...) @n TS_UN a @n##s TS_UN a
#include "preload/hooks_rt.def"\n#include "preload/hooks_drv.def"\n#include "preload/hooks_drv_ops.def"\n' |
	${CC:-gcc} -E -P -I "$root" -x c - | tr -d '\n' | tr '@' '\n' >rows
cat >make.py <<'PY'
import re, sys
root = sys.argv[1]
removed = "".join(open(path).read() for path in sys.argv[2:]).replace("__dv", "")
rows = {}
for line in open("rows"):
    words = line.replace(",", " ").split()
    if words:
        rows[words[0]] = words[1:]
fields = {}
for body, name in re.findall(r"typedef struct \w+_params_st \{(.*?)\}\s*(\w+)_params;", open("metas").read().replace("__dv", ""), re.S):
    fields[name] = [re.search(r"(\w+)\s*(\[\w*\])?\s*$", f).group(1) for f in body.split(";") if f.strip()]
print('#include "preload/told.c"')
print('#include <generated_cuda_meta.h>\n#include <generated_cuda_runtime_api_meta.h>')
# What went from the headers with CUDA 13, where its structure needs no type that went as well.
print("#include <stddef.h>")
for body, name in re.findall(r"(typedef struct \w+_params_st \{.*?\}\s*(\w+)_params;)", removed, re.S):
    if not re.search(r"textureReference|surfaceReference|cudaLaunchParams|cudaOutputMode", body):
        print(body)
checked = 0
for domain, name in re.findall(r"TS_CALLBACK(?:_ALONE)?\((\w+), (\w+)\)", open(root + "/cupti/callbacks.def").read()):
    row = re.sub(r"_v\d+$", "", name) if domain == "RUNTIME" else name
    if row not in rows or name not in fields:
        # The compiler's own entry points are in no header of theirs, and are not read.
        assert row not in rows or not rows[row] or name.startswith("__"), "no structure of CUPTI's for " + name
        continue
    assert len(fields[name]) == len(rows[row]), (name, fields[name], rows[row])
    if name == "cudaLaunchCooperativeKernelMultiDevice_v9000":
        continue                # cudaLaunchParams went with it
    checked += 1
    print('_Static_assert(sizeof(struct params_%s) == sizeof(%s_params), "%s");' % (row, name, name))
    for ours, theirs in zip(rows[row], fields[name]):
        print('_Static_assert(offsetof(struct params_%s, %s) == offsetof(%s_params, %s), "%s %s");' %
              (row, ours, name, theirs, name, theirs))
print("%d callbacks" % checked, file=sys.stderr)
assert checked > 200, checked
PY
/usr/bin/python3 make.py "$root" "$CUPTI_INC"/generated_cudart_removed_meta.h >layout.c || fail "see above"
${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -fsyntax-only -w -I "$root" -isystem "$CUDA_INC" -isystem "$CUPTI_INC" -include stddef.h layout.c ||
	fail "another layout than CUPTI's"

# Each row with its class.
printf '#define TS_RT(n, p, a, c, ...) @n c\n#define TS_RT_S(n, s, p, a, c, ...) @n c @n##s c\n#define TS_RT_OLD TS_RT\n#define TS_RT_OLD_S TS_RT_S
#define TS_RT_WORDS(n, c, ...) @n c\n#define TS_RT_WORDS_S(n, s, c, ...) @n c @n##s c\n#define TS_RT_WORDS9_S TS_RT_WORDS_S
#define TS_SPECIAL(n)\n#define TS_DRV(n, b, v, p, a, c, ...) @n c\n#define TS_DRV_S(n, b, v, s, vs, p, a, c, ...) @n c @n##s c
#include "preload/hooks_rt.def"\n#include "preload/hooks_drv.def"\n#include "preload/hooks_drv_ops.def"\n' |
	${CC:-gcc} -E -P -I "$root" -x c - | tr -d '\n' | tr '@' '\n' >classes
/usr/bin/python3 - "$root" "$CUPTI_INC" <<'PY' || fail "see above"
import re, sys
root, headers = sys.argv[1:]
classes = dict(line.split() for line in open("classes") if line.strip())
callbacks = open(root + "/cupti/callbacks.def").read()
asked = set(re.findall(r"TS_CALLBACK(?:_ALONE)?\((\w+), (\w+)\)", callbacks))
# Where some hooks are met and others not, what later events depend on must be known of every call.
alone = {classes[re.sub(r"_v\d{4,}$", "", name)] for name in re.findall(r"TS_CALLBACK_ALONE\(\w+, (\w+)\)", callbacks)}
assert alone <= {"CALL", "OP"}, alone
unneeded = {"CONTEXT", "KERNEL_NAME", "KERNEL_OF", "KERNEL_SAME", "UNLOAD", "PROC"}        # the driver is asked, CUPTI names kernels
missing = []
for domain in "RUNTIME", "DRIVER":
    text = open("%s/cupti_%s_cbid.h" % (headers, domain.lower())).read()
    for name in re.findall(r"CUPTI_%s_TRACE_CBID_(\w+)\s*=" % domain, text):
        row = re.sub(r"_v\d+$", "", name) if domain == "RUNTIME" else name
        if row in classes and row.startswith("cuda") == (domain == "RUNTIME") and classes[row] not in unneeded and (domain, name) not in asked:
            missing.append(name)
assert len(classes) > 400 and len(asked) > 400 and not missing, missing
PY
exit 0
