/* Call stacks where the ground is unsure: code without unwind information, foreign stacks, signals,
 * libraries that come and go. */
#include "tests/unit/stack_test.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

/* --- code that no loaded file has --- */

static NOINLINE void below_jit(void)
{
	hook();
	KEEP_FRAME();
}

/* push rbp; mov rbp, 0x1234; mov rax, below_jit; call rax; pop rbp; ret */
static unsigned char *make_thunk(void)
{
	static const unsigned char code[] = {0x55, 0x48, 0xc7, 0xc5, 0x34,
					     0x12, 0x00, 0x00, 0x48, 0xb8};
	static const unsigned char tail[] = {0xff, 0xd0, 0x5d, 0xc3};
	void (*callee)(void) = below_jit;
	unsigned char *page =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(page, code, sizeof(code));
	memcpy(page + sizeof(code), &callee, sizeof(callee));
	memcpy(page + sizeof(code) + sizeof(callee), tail, sizeof(tail));
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	return page;
}

static void jit(void **state)
{
	unsigned char *page = make_thunk();
	uint64_t frames[FRAMES];
	uint32_t id = 0;
	unsigned end;

	(void)state;
	for (int i = 0; i < 4; i++) {
		((void (*)(void))(uintptr_t)page)();
		assert_int_equal(frames_of(taken.id, frames, &end), 2);
		assert_int_equal(end, TS_STACK_NO_UNWIND_INFO);
		assert_in_range(frames[0], (uintptr_t)below_jit, (uintptr_t)below_jit + 50);
		assert_in_range(frames[1], (uintptr_t)page, (uintptr_t)page + 25);
		assert_true(!id || id == taken.id);
		id = taken.id;
	}
	munmap(page, 4096);
}

/* --- stacks that are not the thread's --- */

static ucontext_t outside, inside;

static NOINLINE void in_coroutine(void)
{
	hook();
	KEEP_FRAME();
}

static void coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		in_coroutine();
		swapcontext(&inside, &outside);
	}
}

static void run_coroutine(char *stack, size_t bytes)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = bytes;
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	for (int i = 0; i < 3; i++) {
		uint64_t frames[FRAMES];
		unsigned end, n;

		swapcontext(&outside, &inside);
		n = frames_of(taken.id, frames, &end);
		assert_int_equal(end, TS_STACK_WHOLE);
		assert_in_range(n, 3, taken.backtrace_count);
		for (unsigned f = 0; f < n; f++)
			assert_int_equal(frames[f] + 1, taken.backtrace[f]);
	}
}

/* At the end of its mapping: a step too far is a fault. */
static void coroutines(void **state)
{
	char *map = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char in_bss[100000];
	char on_stack[100000];

	(void)state;
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(mprotect(map + 65536, 131072, PROT_READ | PROT_WRITE), 0);
	run_coroutine(map + 65536, 131072);
	munmap(map, 1 << 20);
	run_coroutine(in_bss, sizeof(in_bss));
	run_coroutine(on_stack, sizeof(on_stack));
	hook();
	assert_like_backtrace();
}

static void *coroutines_in_thread(void *arg)
{
	/* the thread's first stack is already a coroutine's */
	coroutines(arg);
	return NULL;
}

static void coroutines_of_thread(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, coroutines_in_thread, state), 0);
	pthread_join(thread, NULL);
}

/* A frame pointer chain cut by hand: the walk's reads stay in the stack whatever is found there. */
static NOINLINE void with_broken_chain(uint64_t value)
{
	ts_self.depth++;
	uint64_t frame[2] = {value, (uintptr_t)with_broken_chain + 8};

	ts_stack_take(frame);
	ts_self.depth--;
}

static void garbage(void **state)
{
	(void)state;
	for (int i = 0; i < 64; i++) {
		with_broken_chain(UINT64_C(1) << i);
		with_broken_chain((UINT64_C(1) << i) - 8);
	}
	hook();
	assert_like_backtrace();
}

/* --- signals --- */

static volatile sig_atomic_t signals;

static void handler(int signal)
{
	(void)signal;
	hook();
	signals++;
}

static NOINLINE void interrupted(void)
{
	/* at a call's first instruction and elsewhere: an exact address, not a return address */
	__asm__ volatile("ud2" ::: "memory");
	KEEP_FRAME();
}

static void skip_ud2(int signal, siginfo_t *info, void *context)
{
	(void)info;
	handler(signal);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void handlers(void **state)
{
	static char alternate[65536];
	const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	const stack_t off = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_sigaction = skip_ud2, .sa_flags = SA_SIGINFO};

	(void)state;
	sigaltstack(&stack, NULL);
	for (int i = 0; i < 6; i++) {
		int before = signals;

		action.sa_flags = SA_SIGINFO | (i % 2 ? SA_ONSTACK : 0);
		sigaction(SIGILL, &action, NULL);
		interrupted();
		assert_int_equal(signals, before + 1);
		assert_like_backtrace();
	}
	signal(SIGILL, SIG_DFL);
	sigaltstack(&off, NULL);
}

/* --- libraries --- */

/* Build a library that defines `function`, which calls its argument; NULL: no compiler. */
static const char *build_library(const char *function, char *path)
{
	const char *cc = getenv("CC") ? getenv("CC") : "cc";
	char command[1024];

	sprintf(path, "/tmp/test_stack_%s_%d.so", function, (int)getpid());
	snprintf(command, sizeof(command),
		 "echo 'void %s(void (*f)(void)) { f(); __asm__ volatile(\"\"); }' | "
		 "%s -O2 -shared -fPIC -Wl,--build-id -x c - -o %s 2>/dev/null",
		 function, cc, path);
	return system(command) ? NULL : path;
}

/* The module of the stack's frame number one. */
static const struct ts_module *caller_module(void)
{
	const struct ts_entry *stack = ts_arena_get(taken.id);
	const uint64_t *words = (const void *)stack->data;
	const struct ts_entry *module = ts_arena_get((uint32_t)(words[0] >> TS_FRAME_OFFSET_BITS));

	return (const void *)module->data;
}

static uint64_t call_library(const char *path, const char *function, bool last_by_other_name)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call)(void (*)(void));
	const struct ts_module *module;
	uint64_t base;

	assert_non_null(library);
	*(void **)&call = dlsym(library, function);
	for (int i = 0; i < 3; i++) {
		call(hook);
		assert_like_backtrace();
		module = caller_module();
		assert_string_equal(strrchr(module->path, '/'), strrchr(path, '/'));
		assert_int_equal(module->path[0], '/');
		assert_int_equal(module->build_id_bytes, 20);
		if (last_by_other_name) { /* a count goes down, no code goes */
			dlclose(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
			ts_stack_code_changed();
		}
	}
	base = module->base;
	dlclose(library);
	ts_stack_code_changed();
	return base;
}

static void replaced_library(void **state)
{
	char path_a[64], path_b[64];
	uint8_t id_a[20];
	int same = 0;

	(void)state;
	if (!build_library("one", path_a) || !build_library("two", path_b))
		skip();
	for (int i = 0; i < 5; i++) {
		uint64_t a = call_library(path_a, "one", i & 1), b;

		memcpy(id_a, caller_module()->build_id, 20);
		b = call_library(path_b, "two", i & 1);
		assert_memory_not_equal(id_a, caller_module()->build_id, 20);
		same += a == b;
	}
	assert_int_not_equal(same, 0); /* else nothing was tested */
	/* the loader's name may be relative, ours is not */
	assert_int_equal(chdir("/tmp"), 0);
	path_a[3] = '.';
	call_library(path_a + 3, "one", false);
	path_a[3] = 'p';
	unlink(path_a);
	unlink(path_b);
}

/* --- the loader's lock --- */

static atomic_bool stop;
static atomic_long stacks, missed;

static void count(void)
{
	ts_self.depth++;
	if (ts_stack_take(__builtin_frame_address(0)))
		stacks++;
	else
		missed++;
	ts_self.depth--;
}

static void *open_and_close(void *path)
{
	while (!stop) {
		void *library = dlopen(path, RTLD_NOW);
		void (*call)(void (*)(void));

		*(void **)&call = dlsym(library, "three");
		call(count);
		dlclose(library);
		ts_stack_code_changed();
	}
	return NULL;
}

static int in_iteration(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info, (void)size, (void)arg;
	count();
	return stop;
}

static void *iterate(void *arg)
{
	while (!stop)
		dl_iterate_phdr(in_iteration, NULL);
	return arg;
}

static void *take(void *arg)
{
	while (!stop)
		for (int i = 0; i < 100; i++)
			count();
	return arg;
}

static void *short_lived(void *arg)
{
	count();
	ts_self.depth++;
	ts_stack_thread_end();
	ts_self.depth--;
	return arg;
}

static void *make_threads(void *arg)
{
	pthread_t thread;

	while (!stop && !pthread_create(&thread, NULL, short_lived, NULL))
		pthread_join(thread, NULL);
	return arg;
}

static void loader_stress(void **state)
{
	static void *(*const runs[])(void *) = {open_and_close, iterate, take, make_threads};
	pthread_t threads[TS_ARRAY_SIZE(runs)];
	char path[64];

	(void)state;
	if (!build_library("three", path))
		skip();
	for (size_t i = 0; i < TS_ARRAY_SIZE(runs); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, runs[i], path), 0);
	sleep(3);
	stop = true;
	for (size_t i = 0; i < TS_ARRAY_SIZE(runs); i++)
		pthread_join(threads[i], NULL);
	unlink(path);
	assert_in_range(stacks, 1000, LONG_MAX);
	assert_int_equal(missed, ts_lost_count(TS_LOST_stack_unsafe));
	print_message("%ld stacks, %ld given up\n", (long)stacks, (long)missed);
}

/* --- no libunwind --- */

/* In a process whose libunwind is an empty library. */
static int run_without(void)
{
	hook();
	return taken.id == 0 && ts_stack_problem() && strstr(ts_stack_problem(), "libunwind") &&
		       !ts_lost_count(TS_LOST_stack_unsafe)
		   ? 42
		   : 1;
}

static void without_libunwind(void **state)
{
	char path[64], folder[64], command[512];
	int status;

	(void)state;
	if (!build_library("four", path))
		skip();
	strcpy(folder, "/tmp/test_stack_XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(
	    command, sizeof(command),
	    "mv %s %s/libunwind-x86_64.so.8 && LD_LIBRARY_PATH=%s /proc/%d/exe without 2>%s/said",
	    path, folder, folder, (int)getpid(), folder);
	status = system(command);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	snprintf(command, sizeof(command),
		 "test $(grep -c 'no call stacks' %s/said) = 1; s=$?; rm -r %s; exit $s", folder,
		 folder);
	assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jit),
		cmocka_unit_test(coroutines_of_thread),
		cmocka_unit_test(coroutines),
		cmocka_unit_test(garbage),
		cmocka_unit_test(handlers),
		cmocka_unit_test(replaced_library),
		cmocka_unit_test(loader_stress),
		cmocka_unit_test(without_libunwind),
	};

	(void)argv;
	if (argc > 1)
		return stack_setup(NULL) ? 1 : run_without();
	return cmocka_run_group_tests(tests, stack_setup, stack_teardown);
}
