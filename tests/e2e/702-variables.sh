# 7.02: a variable that is misspelt or has a value that cannot be used: one line that names it, the default in force,
# the program as ever.
. "$(dirname "$0")/lib.sh"
need basic-shared
run "$apps/basic-shared" >plain.out 2>plain.err || fail "untraced"
bad() { # NAME=VALUE SUGGESTION...: traced with the setting
	local setting=$1
	shift
	timeout -k 2 "${LIMIT:-20}" env LD_PRELOAD="$preload" TSTRACE_OUTPUT="$T/bad.jsonl" "$setting" "$apps/basic-shared" >out 2>err ||
		fail "$setting: status $?"
	cmp plain.out out || fail "$setting: another stdout"
	[ "$(grep -c . err)" = 1 ] || { cat err; fail "$setting: not one line"; }
	for word in "${setting%%=*}" "$@"; do
		grep -qF -- "$word" err || { cat err; fail "$setting: no word of $word"; }
	done
	valid bad.jsonl
	mv bad.jsonl last.jsonl
}
for value in abc -1 99999999999 1e3 "" " 5" 18446744073709551616 "32 frames"; do
	bad "TSTRACE_STACKS=$value" "0 to 256" default
	holds last.jsonl <<'PY'
assert [e for e in t.allocs() if len(e.get("frames", [])) > 1], "the default takes stacks"
PY
done
for setting in TSTRACE_BUFFER=1T TSTRACE_BUFFER=12 TSTRACE_DEVICE=gpu TSTRACE_DEVICE= TSTRACE_ON_FULL=Wait TSTRACE_COMPRESS=gzip TSTRACE_FLUSH_MS=0; do
	bad "$setting"
done
bad TSTRACE_OUTPTU=x "TSTRACE_OUTPUT"
bad TSTRACE_STACK=5 "TSTRACE_STACKS"
bad TSTRACE_=5
bad TSTRACE_SOMETHING_ELSE_ALTOGETHER=1
# Both at once are two lines; what is right beside them is in force.
timeout 20 env LD_PRELOAD="$preload" TSTRACE_OUTPUT="$T/two.jsonl" TSTRACE_STACKS=x TSTRACE_DEVCE=off TSTRACE_DEVICE=off "$apps/basic-shared" >out 2>err
[ "$(grep -c . err)" = 2 ] || { cat err; fail "two bad variables: not two lines"; }
holds two.jsonl <<'PY'
assert t.meta["backend"] == "off", t.meta
PY
# The same name twice in the environment, which no shell makes: the first counts, as for getenv, and nothing breaks.
cat >twice.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char preload[4096], library[4096];
	char *environment[] = {preload, library, "TSTRACE_OUTPUT=twice.jsonl", "TSTRACE_DEVICE=off", "TSTRACE_DEVICE=cupti", NULL};

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	snprintf(library, sizeof(library), "LD_LIBRARY_PATH=%s", getenv("LD_LIBRARY_PATH"));
	return execve(argv[2], argv + 2, environment), argc;
}
C
${CC:-cc} twice.c -o twice || exit 1
timeout 20 ./twice "$preload" "$apps/basic-shared" >out 2>err || fail "twice: status $?"
cmp plain.out out || fail "twice: another stdout"
valid twice.jsonl
holds twice.jsonl <<'PY'
assert t.meta["backend"] == "off", t.meta
PY
exit 0
