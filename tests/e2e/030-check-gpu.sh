# The kit of `make gpu-kit`, rehearsed on the simulated device it carries: in a root folder of its own with a shell, the
# few tools it asks for and glibc, without a network, with an empty environment.  What it lacks shows here and not on a
# machine with a GPU.
. "$(dirname "$0")/lib.sh"
need basic-shared demo-shared graphs-shared
[ -z "$sanitizer" ] || skip "the kit is of the plain build"
scripts=$(cd "$e2e/../../scripts" && pwd)
"$scripts/find-cuda" >/dev/null 2>&1 || skip "no CUDA toolkit"
mkdir b && ln -s "$B"/* b/ && rm -f b/gpu || exit 1
env -u LD_LIBRARY_PATH "$scripts/check-gpu" b --kit >out 2>&1 || { cat out; fail "no kit"; }

# Without a GPU it says so, in one line.
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/nvidia0 ] && [ ! -e /dev/dxg ]; then
	env -i PATH="$PATH" b/gpu/check-gpu >out 2>&1
	[ $? = 77 ] && [ "$(wc -l <out)" = 1 ] && grep -q 'no GPU on this machine' out || { cat out; fail "no GPU is not told"; }
fi

# A root with what the script asks for.
mkdir -p root/bin root/proc root/dev root/tmp root/kit root/lib64 && ln -s bin root/sbin || exit 1
for tool in bash env timeout cat cmp cut diff grep head mkdir rm sed sort tail tr wc basename dirname; do
	path=$(command -v $tool) || fail "no $tool here"
	cp -L "$path" root/bin/
	ldd "$path" | awk '$3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }'
done | sort -u >libraries
for soname in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do
	ldconfig -p | sed -n "s/^[[:space:]]*$soname .*x86-64.* => //p" | head -n 1
done >>libraries
sort -u libraries | while read -r file; do
	mkdir -p "root$(dirname "$file")" && cp -L "$file" "root$file"
done
cat >inside <<'IN'
mount --bind /proc root/proc && mount --bind /dev root/dev && mount --bind b/gpu root/kit &&
	exec chroot root /bin/env -i PATH=/bin CHECK_GPU_ONLY="basic demo graphs ctypes_cudart.py" /bin/bash /kit/check-gpu --dry-run
IN
if [ "$(id -u)" = 0 ] && unshare -m -n true 2>/dev/null; then
	timeout 100 unshare -m -n bash ./inside >table 2>&1
else
	timeout 100 env -i PATH=/usr/bin:/bin CHECK_GPU_ONLY="basic demo graphs" b/gpu/check-gpu --dry-run >table 2>&1
fi
status=$?
cat table
[ "$status" = 0 ] || fail "status $status"
grep -q '^demo-shared  *cupti  *pass ' table && grep -q '^demo-shared  *event  *pass ' table || fail "rows are missing"
grep -q '^demo-shared  *inject  *pass ' table || fail "the row of the injection is missing"
grep -q '[1-9][0-9]* passed, 0 failed, 0 skipped' table || fail "the last line"
# A table that cannot fail says nothing: a library that cannot be loaded.
: >b/gpu/libtstrace.so
env -i PATH=/usr/bin:/bin CHECK_GPU_ONLY=basic b/gpu/check-gpu --dry-run >table 2>&1
[ $? = 1 ] && grep -q '^basic-shared  *cupti  *FAIL ' table || { cat table; fail "a broken kit passes"; }
exit 0
