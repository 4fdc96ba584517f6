# What the end-to-end tests share.  Source it first:  . "$(dirname "$0")/lib.sh"
#   B  the build folder, T  a folder of the test's own (scripts/run-tests gives both); the test starts in $T
B=$(cd "${B:-build}" && pwd) || exit 1
e2e=$(cd "$(dirname "$0")" && pwd) || exit 1
apps=$B/apps tstrace=$B/tstrace
T=${T:-$(mktemp -d)}
cd "$T" || exit 1
export B T
# NVIDIA's libraries must never be found in place of the simulated ones.
export LD_LIBRARY_PATH=$B/sim PYTHONPATH=$e2e PYTHONDONTWRITEBYTECODE=1

fail() { echo "$(basename "$0" .sh): $*"; exit 1; }
skip() { echo "$*"; exit 77; }
need() { for program; do [ -e "$apps/$program" ] || skip "$program is not built: no nvcc"; done; }

# The runtime of a sanitizer must come before every other library.
sanitizer=$(ldd "$B/libtstrace.so" | awk '/lib(asan|tsan|ubsan)/ { print $3 }' | tr '\n' ':')
preload="$sanitizer$B/libtstrace.so"
[ -z "$sanitizer" ] || export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# run PROGRAM...: on the simulated device, untraced.
run() { timeout -k 2 "${LIMIT:-20}" env ${sanitizer:+LD_PRELOAD="$sanitizer"} "$@"; }

# traced TRACE PROGRAM...: the same, with the library; the trace is the named file in $T.
traced() {
	local trace=$T/$1
	shift
	timeout -k 2 "${LIMIT:-20}" env LD_PRELOAD="$preload" TSTRACE_OUTPUT="$trace" "$@"
}

# undisturbed NAME PROGRAM...: with and without the library the program prints the same bytes and ends in the same way.
undisturbed() {
	local name=$1 plain status
	shift
	run "$@" >"$name.plain.out" 2>"$name.plain.err"
	plain=$?
	traced "$name.jsonl" "$@" >"$name.out" 2>"$name.err"
	status=$?
	[ "$plain" -lt 124 ] || [ "$plain" -gt 128 ] || fail "$name: untraced status $plain"
	[ "$status" = "$plain" ] || { cat "$name.err"; fail "$name: status $status, untraced $plain"; }
	cmp "$name.plain.out" "$name.out" || fail "$name: another stdout"
	cmp "$name.plain.err" "$name.err" || { cat "$name.err"; fail "$name: another stderr"; }
}

# transparent NAME PROGRAM...: the same, and what is recorded is NAME.jsonl, a valid trace.
transparent() {
	undisturbed "$@"
	valid "$1.jsonl"
}

valid() {
	[ -s "$1" ] || fail "$1: no trace"
	$tstrace check "$1" >check.out 2>&1 || { cat check.out; fail "$1: not a valid trace"; }
}

# holds TRACE: Python statements on stdin about `t`, the trace (see trace.py), none of which may fail.
# More arguments are in `args`.
holds() {
	/usr/bin/python3 -c '
import sys
from trace10 import *
t, args = Trace(sys.argv[1]), sys.argv[2:]
exec(compile(sys.stdin.read(), "holds", "exec"))' "$@" || fail "$1: see above"
}

# summary TRACE [OPTION...]: must be quiet on stderr.
summary() {
	$tstrace summary "$@" 2>summary.err || { cat summary.err; fail "summary $*"; }
	[ ! -s summary.err ] || { cat summary.err; fail "summary $*: not quiet"; }
}

# sim_program FILE [OPTION...]: C on stdin as a program on the simulated runtime.
sim_program() {
	local file=$1
	shift
	{
		echo 'int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p), cudaDeviceSynchronize(void);'
		echo '#line 1 "program"'
		cat
	} | ${CC:-gcc} -g -O1 -Wall -Wextra -D_GNU_SOURCE -x c - -x none "$@" -o "$file" -L"$B/sim" -l:libcudart.so.13 \
		-ldl -lpthread || fail "$file does not compile"
}
