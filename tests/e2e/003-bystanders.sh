# 1.21: programs that never touch CUDA leave no file and no thread, and are not slowed or changed.
. "$(dirname "$0")/lib.sh"
# Its runtime ends a shell that has children with a status of its own, traced or not.
case $sanitizer in *tsan*) skip "shells under ThreadSanitizer" ;; esac
mkdir here && cd here || exit 1

same() { # COMMAND...: same output and status with the library
	run "$@" >../plain 2>../plain.err
	local plain=$?
	LIMIT=60 timeout 60 env LD_PRELOAD="$preload" "$@" >../traced 2>../traced.err
	[ $? = $plain ] || fail "status: $*"
	cmp ../plain ../traced && cmp ../plain.err ../traced.err || fail "output: $*"
}
same sh -c 'echo one | cat; ls /; exit 3'
same bash -c 'x=$(echo a | tr a b); echo $x; (exit 4)'
same sh -c 'ldd /bin/sh >/dev/null'
same /usr/bin/python3 -c 'import os, sys; print(sys.version, os.getcwd()); sys.exit(5)'
same git --version
printf 'all: a b c d\na b c d:\n\t@echo $@ >/dev/null\n' >../Makefile
same make -s -j4 -f ../Makefile
# A program linked with the runtime that stops before it calls it is a bystander as well.
threads=$(env LD_PRELOAD="$preload" /usr/bin/python3 -c 'import os; print(len(os.listdir("/proc/self/task")))')
[ "$threads" = 1 ] || [ -n "$sanitizer" ] || fail "$threads threads in a program without CUDA"
[ -z "$(ls -A)" ] || { ls -A; fail "files of bystanders"; }
[ -z "$(ls /dev/shm | grep "^tstrace.*\.$$\.")" ] || fail "a recovery file of a bystander"
exit 0
