# 1.04, 1.06, 1.09: dlsym gives what it gave without the library, for every name that is not a hook and for RTLD_NEXT from
# any caller, wherever the library lies; a function of the runtime taken by dlsym is recorded.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
cudart .
library libnames.so <<'C'
int cudnnCreate(void) { return 1; }
int cublasCreate_v2(void) { return 2; }
int curl_easy_init(void) { return 3; }
int cuMyThing(void) { return 4; }
int cudaMyThing(void) { return 5; }
int cuMemAlloc(void) { return 6; }      /* the name of a hook, in a library that is no driver */
int cudaMalloc(void) { return 7; }
C
program names <<'C'
#include "fake.h"
int main(void)
{
	static const char *const names[] = { "cudnnCreate", "cublasCreate_v2", "curl_easy_init", "cuMyThing",
					     "cudaMyThing", "cuMemAlloc", "cudaMalloc", "cudaNothing" };
	void *handle = dlopen("libnames.so", RTLD_NOW | RTLD_LOCAL);

	for (int i = 0; i < 8; i++) {
		int (*f)(void);
		Dl_info info = { 0 };

		*(void **)&f = dlsym(handle, names[i]);
		printf("%s: %d in %s\n", names[i], f ? f() : -1,
		       f && dladdr(*(void **)&f, &info) ? strrchr(info.dli_fname, '/') : "nothing");
		if (!f)
			printf("%s\n", dlerror());
	}
	printf("%d\n", dlsym(RTLD_DEFAULT, "cudnnCreate") == NULL);
	return 0;
}
C
quiet() { # NAME PROGRAM...: undisturbed, and nothing recorded
	local name=$1
	shift
	run "$@" >"$name.plain" 2>&1
	local plain=$?
	traced "$name.jsonl" "$@" >"$name.out" 2>&1
	[ $? = $plain ] && [ $plain -lt 124 ] || fail "$name: another status"
	cmp "$name.plain" "$name.out" || fail "$name: another output"
	[ ! -e "$name.jsonl" ] || fail "$name: a trace of nothing"
}
quiet names ./names
mkdir "$T/elsewhere"
cp "$B/libtstrace.so" "$T/elsewhere/another-name.so"
ln -s "$B/libtstrace.so" "$T/elsewhere/link.so"
for copy in another-name.so link.so; do
	preload="$sanitizer$T/elsewhere/$copy" quiet "$copy" ./names
done

# Where there is no CUDA a program that asks for one of its functions is told so, by whatever handle it asks.
program ask <<'C'
#include "fake.h"
static void ask(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	printf(" %d %d", found != NULL, dlerror() != NULL);
}
int main(int argc, char **argv)
{
	static const char *const names[] = { "cudaMalloc", "cuInit", "__cudaLaunchKernel", "cuMemAlloc_v2" };

	if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
		return 2;
	for (int i = 0; i < 4; i++) {
		printf("%s:", names[i]);
		ask(RTLD_DEFAULT, names[i]);
		ask(RTLD_NEXT, names[i]);
		ask(dlopen(NULL, RTLD_NOW), names[i]);
		printf("\n");
	}
	return 0;
}
C
quiet ask ./ask
[ "$(grep -c ': 0 1 0 1 0 1$' ask.out)" = 4 ] || { cat ask.out; fail "a function of no library"; }
quiet asked-global ./ask ./libcudart.so.12
quiet asked-foreign ./ask ./libnames.so
[ "$(grep -c ': 1 0' asked-global.out)" = 2 ] || { cat asked-global.out; fail "the runtime's functions"; }

# Each in turn asks for the next one of its own name; asked twice, it is no recursion.
for x in a b; do
	library lib$x.so <<C
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int foo(int depth)
{
	int (*next)(int);
	for (int i = 0; i < 2; i++) {
		*(void **)&next = dlsym(RTLD_NEXT, "foo");
		printf("$x: next is %s\n", next == foo ? "itself" : next ? "another" : "nothing");
	}
	return depth * 10 + (next ? next(depth + 1) : 0);
}
C
done
program next -L. -Wl,--no-as-needed -la -lb <<'C'
#include <stdio.h>
int foo(int);
int main(void) { printf("%d\n", foo(1)); return 0; }
C
quiet next ./next
grep -qx 'a: next is another' next.out && grep -qx 'b: next is nothing' next.out || fail "not the chain that was meant"

# As ctypes does.
cat >taken.c <<'C'
#include "fake.h"
int main(void)
{
	void *runtime = dlopen("libcudart.so.12", RTLD_NOW), *p = NULL;
	int (*alloc)(void **, size_t), (*give_back)(void *);

	*(void **)&alloc = dlsym(runtime, "cudaMalloc");
	*(void **)&give_back = dlsym(runtime, "cudaFree");
	printf("%d\n", alloc(&p, 16));
	printf("%d\n", give_back(p));
	return 0;
}
C
program taken <taken.c
transparent taken ./taken
cat >taken.py <<'C'
import ctypes
runtime = ctypes.CDLL("libcudart.so.12")
p = ctypes.c_void_p()
print(runtime.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(16)), runtime.cudaFree(p))
C
transparent python /usr/bin/python3 taken.py
for name in taken python; do
	holds $name.jsonl <<'PY'
assert [(e["bytes"], e["api"], e["route"]) for e in t.allocs()] == [(16, "cudaMalloc", "dlsym")], t.allocs()
assert len(t.frees()) == 1 and not t.live()
PY
done
