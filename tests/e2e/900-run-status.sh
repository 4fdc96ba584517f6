# 7.01: the program's status and signals are passed on exactly, and every reason for an empty hand has its own line.
B=$(cd "${B:-build}" && pwd) || exit 1
T=${T:-$(mktemp -d)}
cd "$T" || exit 1
# In a sanitizer's build its runtime must come before every other library.
sanitizer=$(ldd "$B/libtstrace.so" | awk '/lib(asan|tsan|ubsan)/ { print $3 }' | tr '\n' ':')
[ -z "$sanitizer" ] || export LD_PRELOAD=${sanitizer%:} \
	ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0 TSAN_OPTIONS=handle_segv=0:handle_abort=0
fail() { echo "900: $*"; exit 1; }
expect() { # STATUS WORDS-ON-STDERR COMMAND...
	local want=$1 words=$2
	shift 2
	"$@" >out 2>err
	local got=$?
	[ "$got" = "$want" ] || { cat err; fail "status $got, not $want: $*"; }
	[ -z "$words" ] || grep -q -- "$words" err || { cat err; fail "no '$words' from: $*"; }
}
run="$B/tstrace run"

for status in 0 1 7 125 255; do
	expect $status "" $run -- sh -c "exit $status"
done
for signal in TERM KILL ABRT SEGV USR1; do
	number=$(kill -l $signal)
	expect $((128 + number)) "" $run sh -c "kill -$signal \$\$"
done
# Sent to tstrace alone, a signal reaches the program.
# (No shell: one that forks crashes when ThreadSanitizer's runtime is preloaded, without tstrace too.)
$run /usr/bin/python3 -c '
import signal, sys
signal.signal(signal.SIGUSR2, lambda *_: sys.exit(42))
print("ready", flush=True)
while True:
    signal.pause()' >ready 2>/dev/null &
pid=$!
for _ in $(seq 600); do grep -q ready ready && break; sleep 0.05; done
kill -USR2 $pid
wait $pid
[ $? = 42 ] || fail "a signal was not passed on"

expect 0 "nothing was captured" $run true
expect 127 "not found in PATH" $run no-such-program-here
expect 127 "no such file" $run ./no-such-program-here
: >plain
expect 126 "no execute permission" $run ./plain
expect 126 "irectory" $run /
printf '#!/bin/sh\nexit 5\n' >script && chmod +x script
expect 5 "is a script: its interpreter" $run ./script
printf '#!/no/such/interpreter\n' >orphan && chmod +x orphan
expect 126 "missing" $run ./orphan
expect 125 "no program" $run
expect 125 "option --nonsense" $run --nonsense true
# Options behind the program are its own.
[ "$($run echo -o --sim 2>/dev/null)" = "-o --sim" ] || fail "the program's options were taken"
$run -o here.jsonl sh -c 'echo "$TSTRACE_OUTPUT"' 2>/dev/null | grep -qx here.jsonl || fail "-o does not set TSTRACE_OUTPUT"
# The trace is named, also one that was given a number because the file was there; an older file is not.
export LD_LIBRARY_PATH=$B/sim
for want in named.jsonl named.1.jsonl named.2.jsonl.zst; do
	case $want in
	*.zst) : >named.jsonl.zst && : >named.1.jsonl.zst && zstd=zstd ;;
	*) zstd=none ;;
	esac
	for old in named*; do [ -e "$old" ] && touch -d '1 hour ago' "$old"; done
	TSTRACE_COMPRESS=$zstd $run --sim -o named.jsonl "$B/apps/driver-shared" >/dev/null 2>err
	[ "$(grep '^tstrace run: trace: ' err)" = "tstrace run: trace: $want" ] || { cat err; fail "$want is not named"; }
	grep -q "nothing was captured" err && fail "$want: nothing was captured"
done
touch -d "1 hour ago" named*
expect 0 "nothing was captured in named.jsonl: .*names its trace itself" $run -o named.jsonl true
$run --exec sh -c 'exit 6' 2>err
[ $? = 6 ] && [ ! -s err ] || fail "--exec"
exit 0
