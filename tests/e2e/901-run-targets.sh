# 1.13, 1.17, 1.18, 1.22: targets that cannot be traced, a library path that the loader splits, other preloads.
B=$(cd "${B:-build}" && pwd) || exit 1
T=${T:-$(mktemp -d)}
cd "$T" || exit 1
# In a sanitizer's build its runtime must come before every other library.
sanitizer=$(ldd "$B/libtstrace.so" | awk '/lib(asan|tsan|ubsan)/ { print $3 }' | tr '\n' ':')
[ -z "$sanitizer" ] || export LD_PRELOAD=${sanitizer%:} \
	ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0 TSAN_OPTIONS=handle_segv=0:handle_abort=0
fail() { echo "901: $*"; exit 1; }
CC=${CC:-cc}

# 1.18 static: one line, no preload, own status
echo 'int main(void) { return 3; }' >three.c
if $CC -static three.c -o static 2>/dev/null; then
	"$B/tstrace" run ./static 2>err
	[ $? = 3 ] || fail "static: status"
	[ "$(wc -l <err)" = 1 ] && grep -q "static executable" err || { cat err; fail "static: message"; }
	printf '#!%s\n' "$T/static" >of-static
	chmod +x of-static
	"$B/tstrace" run ./of-static 2>err
	[ $? = 3 ] && grep -qF "its interpreter $T/static is a static executable" err || { cat err; fail "a script of it"; }
fi

# 1.17 musl: told by the loader's name, never preloaded
$CC three.c -o musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 || exit 1
"$B/tstrace" run ./musl 2>err
grep -q "not that of glibc" err || { cat err; fail "musl: message"; }

# A script whose interpreter is not there: that one is named.
printf '#!/no/such/interpreter\n' >nowhere
chmod +x nowhere
"$B/tstrace" run ./nowhere 2>err
[ $? = 126 ] && grep -q "interpreter /no/such/interpreter cannot be read" err &&
	grep -q "interpreter /no/such/interpreter is missing" err || { cat err; fail "an interpreter that is missing"; }

# A file without #! is the shell's, as exec has it: told so, and preloaded.
echo 'echo "$LD_PRELOAD"' >bare
chmod +x bare
"$B/tstrace" run ./bare >out 2>err
grep -q "/bin/sh runs it" err && grep -q libtstrace.so out || { cat out err; fail "a file without #!"; }

# 1.13 another preloaded library stays, and comes first
echo '#include <stdio.h>
__attribute__((constructor)) static void hello(void) { fputs("other is here\n", stderr); }' >other.c
$CC -shared -fPIC other.c -o libother.so || exit 1
LD_PRELOAD="${sanitizer}$T/libother.so" "$B/tstrace" run sh -c 'echo "$LD_PRELOAD"' >out 2>err
grep -q "other is here" err || { cat err; fail "the other library was not loaded"; }
grep -q "$T/libother.so:.*libtstrace.so$" out || { cat out; fail "order of LD_PRELOAD"; }
# twice makes no two entries
"$B/tstrace" run "$B/tstrace" run sh -c 'echo "$LD_PRELOAD"' 2>/dev/null >out
[ "$(grep -o libtstrace.so out | wc -l)" = 1 ] || { cat out; fail "preloaded twice"; }

# 1.22 a path with a space and a colon: a safe link, never untraced in silence
mkdir "sp ace:colon" && cp "$B/tstrace" "$B/libtstrace.so" "sp ace:colon/" && mkdir "sp ace:colon/sim"
XDG_RUNTIME_DIR=$T "$T/sp ace:colon/tstrace" run --sim sh -c 'echo "$LD_PRELOAD"; echo "$LD_LIBRARY_PATH"; cat /proc/$$/maps' >out 2>err
sed -n 1,2p out | grep -q "[ ]" && fail "a path with a space was preloaded"
library=$(sed -n '1{s/.*://;p}' out)
[ "$(readlink "$library")" = "$T/sp ace:colon/libtstrace.so" ] || { cat out; fail "no link to the library"; }
grep -q "sp ace:colon/libtstrace.so" out || fail "the library was not loaded"
sim=$(sed -n 2p out)
[ "$(readlink "${sim%%:*}")" = "$T/sp ace:colon/sim" ] || fail "no link to the simulated device"
grep -q "simulated device" err || fail "the simulated device was not announced"
grep -q "cannot be preloaded" err && { cat err; fail "the loader complained"; }
exit 0
