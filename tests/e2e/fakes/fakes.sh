# What the tests of look-ups share, after lib.sh: libraries and programs compiled where the test runs.
#   cuda DIR [-D...]            a driver, DIR/libcuda.so.1
#   cudart DIR [-D...]          a runtime with its version node, DIR/libcudart.so.12 (-lX and the like are linked)
#   library FILE [OPTION...]    C on stdin as a shared library
#   program FILE [OPTION...]    C on stdin as a program
# Nothing here runs on a GPU, so there are no device intervals to look for.
fakes=$e2e/fakes
export TSTRACE_DEVICE=off LD_LIBRARY_PATH=$T
LIMIT=5
compile() { ${CC:-gcc} -g -O1 -Wall -Wextra -Wno-unused-parameter "$@" || fail "does not compile: $*"; }
cuda() {
	local dir=$1
	shift
	mkdir -p "$dir"
	compile -fPIC -fvisibility=hidden -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic "$fakes/fake_cuda.c" \
		"$@" -o "$dir/libcuda.so.1" -ldl
}
cudart() {
	local dir=$1
	shift
	mkdir -p "$dir"
	echo 'libcudart.so.12 { global: cuda*; __cuda*; local: *; };' >"$dir/cudart.map"
	compile -fPIC -shared -Wl,-soname,libcudart.so.12 -Wl,--version-script="$dir/cudart.map" \
		"$fakes/fake_cudart.c" "$@" -o "$dir/libcudart.so.12" -ldl
}
library() {
	local file=$1
	shift
	compile -fPIC -shared -x c - -x none "$@" -o "$file" -ldl
}
program() {
	local file=$1
	shift
	compile -I "$fakes" -x c - -x none "$@" -o "$file" -ldl -lpthread
}
