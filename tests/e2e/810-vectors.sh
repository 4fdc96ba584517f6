# tstrace check says of every trace of tests/vectors what its manifest says: by its words, its codes and its exit status.
. "$(dirname "$0")/lib.sh"
vectors=$(cd "$e2e/../vectors" && pwd)
/usr/bin/python3 - "$tstrace" "$vectors" <<'PY' || fail "see above"
import json, subprocess, sys
tstrace, folder = sys.argv[1:]
manifest = json.load(open(folder + "/manifest.json"))
assert len(manifest) > 150
wrong = []
for vector in manifest:
    path = folder + "/" + vector["file"]
    plain = subprocess.run([tstrace, "check", path], capture_output=True, text=True)
    *problems, verdict = plain.stdout.splitlines()
    words = lambda key: "yes" if vector[key] else "no"
    expected = "valid: %s, complete: %s, " % (words("valid"), words("complete"))
    codes = {problem.split(":")[1] for problem in problems}
    if not (verdict.startswith(expected) and codes == set(vector["codes"]) and not plain.stderr
            and plain.returncode == (0 if vector["valid"] else 1)):
        wrong.append((vector["file"], plain.returncode, verdict, codes))
for line in wrong:
    print(*line)
sys.exit(bool(wrong))
PY
exit 0
