# 1.20: where the loader is told to trust nobody (setuid), neither does the library: it writes no file that an
# untrusted variable names, and the program runs as ever.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "only root can make a setuid program"
[ -z "$sanitizer" ] || skip "a sanitizer's runtime refuses setuid programs"
case ,$(findmnt -n -o OPTIONS -T "$T" 2>/dev/null), in *,nosuid,*) skip "no setuid programs in $T" ;; esac
. "$e2e/fakes/fakes.sh"
cudart .
chmod 755 "$T" . && mkdir -m 777 untrusted || exit 1
cp "$B/libtstrace.so" . && chmod 755 libtstrace.so || exit 1
cat >main.c <<'C'
#include "fake.h"
#include <sys/auxv.h>
int main(void)
{
	void *p;
	int e = cudaMalloc(&p, 444);

	e |= cudaFree(p);
	fprintf(stderr, "secure %lu, error %d\n", getauxval(AT_SECURE), e);
	return 6;
}
C
# LD_LIBRARY_PATH and LD_PRELOAD are ignored there: a program that is linked with everything.
program main <main.c -L. -Wl,--no-as-needed "-Wl,-rpath,$T" -l:libtstrace.so -l:libcudart.so.12
cp main secure && chown 0:0 secure && chmod 4755 secure || exit 1
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups env TSTRACE_DEVICE=off TSTRACE_OUTPUT="$T/untrusted/$1" "$T/$2"; }

as_nobody plain.jsonl main >out 2>err
[ $? = 6 ] && grep -qx 'secure 0, error 0' err || { cat err; fail "the program as such"; }
valid untrusted/plain.jsonl
as_nobody secure.jsonl secure >secure.out 2>secure.err
[ $? = 6 ] && grep -qx 'secure 1, error 0' secure.err || { cat secure.err; fail "the secure program"; }
cmp out secure.out || fail "another output"
[ "$(ls untrusted)" = plain.jsonl ] || fail "files from an untrusted variable: $(ls untrusted)"

# Preloaded from an untrusted path it is not even loaded; the program is what it was.
run setpriv --reuid 65534 --regid 65534 --clear-groups "$T/secure" >out 2>err
status=$?
TSTRACE_OUTPUT=$T/untrusted/preload.jsonl LD_PRELOAD=$T/libtstrace.so \
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/secure" >secure.out 2>secure.err
[ $? = $status ] && cmp out secure.out || fail "another result with a preload"
exit 0
