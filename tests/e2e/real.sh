# The toolkit's own runtime and CUPTI, found as the Makefile finds the toolkit; source it after lib.sh.
#   real_runtime   libcudart.so.N          real_cupti   libcupti.so.N          (skips where there is none)

real_dirs=$(cd "$e2e/../.." && scripts/find-cuda 2>/dev/null | sed -n 's/^CUDA_LIB := //p')
[ -n "$real_dirs" ] || skip "no CUDA toolkit: its own libraries are not here"
real_dirs="$real_dirs $real_dirs/../extras/CUPTI/lib64 $real_dirs/../../cuda_cupti/lib"

real_library() { # STEM: the newest of the majors that we know
	local dir major
	for major in 13 12; do
		for dir in $real_dirs; do
			[ ! -e "$dir/$1.so.$major" ] || { readlink -f "$dir/$1.so.$major"; return; }
		done
	done
	skip "the toolkit has no $1.so.13 or .12"
}

# A driver that the machine brings by itself would be used in place of none, or of the simulated one.
no_real_driver() {
	! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1 ' || skip "this machine has a driver: make check-gpu is for it"
}
