# 7.05, 7.10: a closed pipe is quiet, JSON is pure, a full disk is an error; help and typos.
B=$(cd "${B:-build}" && pwd) || exit 1
vectors=$(cd "$(dirname "$0")/../vectors" && pwd) || exit 1
T=${T:-$(mktemp -d)}
cd "$T" || exit 1
fail() { echo "904: $*"; exit 1; }
tstrace=$B/tstrace trace=$vectors/ok-train.jsonl

for verb in summary "summary --json" check "check --json"; do
	for reader in "head -n 1" true; do
		{ $tstrace $verb "$trace" 2>err; echo $? >status; } | $reader >/dev/null
		[ -s err ] && { cat err; fail "$verb | $reader: not quiet"; }
		[ "$(cat status)" = 0 ] || fail "$verb | $reader: status $(cat status)"
	done
	$tstrace $verb "$trace" >/dev/full 2>err
	[ $? = 2 ] && grep -q "o space" err || fail "$verb on a full disk"
done

# JSON alone on stdout, with warnings present, in every locale, no colour
for vector in ok-train failed-open-spans json-cut-line order-no-terminal; do
	for verb in summary check; do
		LANG=C LC_ALL=C NO_COLOR=1 $tstrace $verb --json "$vectors/$vector.jsonl" >out 2>/dev/null
		python3 -c 'import json, sys; json.load(open("out"))' || fail "$verb --json $vector"
		grep -q $'\033' out && fail "colours in JSON"
	done
done
LC_ALL=C $tstrace summary --json "$vectors/ok-unicode-and-escapes.jsonl" | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "names in LC_ALL=C"
LC_ALL=C $tstrace check "$vectors/ok-unicode-and-escapes.jsonl" >/dev/null || fail "check in LC_ALL=C"

$tstrace --version | grep -q '^tstrace [0-9]' || fail "--version"
$tstrace --help | grep -q '^  run ' || fail "--help"
for verb in run summary check env; do
	$tstrace $verb --help | grep -q "^usage: tstrace $verb" || fail "$verb --help"
	$tstrace help $verb | grep -q "^usage: tstrace $verb" || fail "help $verb"
done
for word in help version; do
	$tstrace help $word | grep -q "^  $word " || fail "help $word"
done
for typo in chekc sumary rnu; do
	$tstrace $typo 2>err
	[ $? = 2 ] && grep -q "did you mean '" err || { cat err; fail "$typo: no suggestion"; }
done
$tstrace summary 2>/dev/null
[ $? = 2 ] || fail "summary without a file"
$tstrace check --jsno "$trace" 2>/dev/null
[ $? = 2 ] || fail "unknown option"
$tstrace check "$vectors/no-such-file" 2>err
[ $? = 2 ] && [ "$(wc -l <err)" = 1 ] || fail "missing file"

# env: every row of the table, bad names and values
$tstrace env >out || fail "env: status"
TSTRACE_OUTPTU=x $tstrace env >/dev/null 2>err
[ $? = 1 ] && grep -q TSTRACE_OUTPUT err || { cat err; fail "env: typo"; }
for value in abc -1 99999999999; do
	TSTRACE_STACKS=$value $tstrace env >/dev/null 2>err
	[ $? = 1 ] && grep -q TSTRACE_STACKS err || fail "env: TSTRACE_STACKS=$value"
done
exit 0
