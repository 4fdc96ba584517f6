# A program that says the same in every run writes the same trace: tests/golden/golden.c against golden.jsonl beside it.
# After a change that is meant, `make golden` writes golden.jsonl anew; look at its diff.
. "$(dirname "$0")/lib.sh"
golden=$(cd "$e2e/../golden" && pwd)
root=$(cd "$golden/../.." && pwd)
${CC:-gcc} -std=gnu11 -g -O1 -Wall -Wextra -I"$root" "$golden/golden.c" -o golden -L"$B/sim" -l:libcudart.so.13 -ldl ||
	fail "golden.c does not compile"
for run in 1 2; do
	GOLDEN_TRACE=$T/golden.$run.jsonl TSTRACE_STACKS=0 traced unused.jsonl ./golden || fail "status $?"
	valid golden.$run.jsonl
	/usr/bin/python3 "$golden/normalise.py" golden.$run.jsonl >normal.$run || fail "golden.$run.jsonl cannot be normalised"
done
diff -u normal.1 normal.2 || fail "two runs differ"
if [ -n "${UPDATE_GOLDEN:-}" ]; then
	cp normal.1 "$golden/golden.jsonl"
fi
diff -u "$golden/golden.jsonl" normal.1 || fail "another trace than the golden one: see the diff, and 'make golden' if it is meant"
exit 0
