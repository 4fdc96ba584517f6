/* Rules known to the process, and the lock and the stack on which they are learned. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "core/aside.h"
#include "core/record/module.h"
#include "core/record/record.h"
#include "core/record/stack.h"
#include "core/record/stack_impl.h"

#define RULES (1u << 14) /* 256 KiB, touched as used; threads have their own small caches */
#define ASIDE_BYTES (256u << 10)
#define WAIT_NS                                                                                    \
	200000000 /* learning takes microseconds: this is a lock that we must not wait for */

/* ---- the lock ---- */

static _Atomic(struct ts_thread *) owner;
static bool given_up; /* in a child whose lock is nobody's to give back */

bool ts_stack_lock(void)
{
	struct ts_thread *nobody = NULL;
	uint64_t start = 0;

	if (given_up)
		return false;
	while (!atomic_compare_exchange_weak_explicit(&owner, &nobody, &ts_self,
						      memory_order_acquire, memory_order_relaxed)) {
		if (nobody == &ts_self)
			return false;
		nobody = NULL;
		if (!start)
			start = ts_monotonic_ns();
		else if (ts_monotonic_ns() - start > WAIT_NS)
			return false;
		sched_yield();
	}
	return true;
}

void ts_stack_unlock(void)
{
	atomic_store_explicit(&owner, NULL, memory_order_release);
}

/* So that a child never finds libunwind's own locks held.  When the forking thread itself holds
 * ours (it forks in a signal handler that interrupted us), it goes on with it in the child. */
static enum { FORK_OWN, FORK_TAKEN, FORK_FAILED } at_fork;

void ts_stack_lock_before_fork(void)
{
	if (atomic_load_explicit(&owner, memory_order_relaxed) == &ts_self)
		at_fork = FORK_OWN;
	else
		at_fork = ts_stack_lock() ? FORK_TAKEN : FORK_FAILED;
}

void ts_stack_lock_after_fork(bool in_child)
{
	if (at_fork == FORK_TAKEN)
		ts_stack_unlock();
	else if (at_fork == FORK_FAILED && in_child)
		given_up = true;
}

/* The stack on which rules are learned; with the lock. */
int ts_stack_run_aside(void (*fn)(void *), void *arg)
{
	static struct ts_aside aside = {.bytes = ASIDE_BYTES};

	return ts_aside_run(&aside, fn, arg);
}

/* ---- rules ---- */

static struct ts_rule *rules;

struct lesson {
	uint64_t pc;
	const struct ts_dso *object;
	struct ts_rule rule;
};

static void learn(void *arg)
{
	struct lesson *lesson = arg;

	lesson->rule = ts_unwind_learn(lesson->pc, lesson->object);
}

static struct ts_rule *rule_slot(uint64_t pc)
{
	return &rules[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - 14)];
}

void ts_rule_forget_all(void)
{
	if (rules)
		memset(rules, 0, RULES * sizeof(*rules));
}

struct ts_rule ts_rule_get(uint64_t pc, bool *in_module)
{
	struct ts_dso object;
	struct lesson lesson = {.pc = pc, .object = &object};

	if (!rules) {
		void *map = mmap(NULL, RULES * sizeof(*rules), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (map != MAP_FAILED)
			rules = map;
	}
	*in_module = true;
	if (rules && rule_slot(pc)->pc == pc)
		return *rule_slot(pc);
	lesson.rule = (struct ts_rule){.pc = pc, .flags = TS_RULE_NO_INFO};
	*in_module = ts_dso_find(pc, &object);
	if (!*in_module)
		return lesson.rule;
	ts_module_id(&object); /* known from now on: its end will be noticed */
	if (!ts_stack_run_aside(learn, &lesson) && rules)
		*rule_slot(pc) = lesson.rule;
	return lesson.rule;
}
