/* Rules asked from libunwind.
 *
 * libunwind is shown a made-up machine: one frame whose program counter is the address in question
 * and whose stack and frame pointers are two numbers far apart.  Reading "the stack" gives a number
 * that says which word was read.  After one step, the caller's registers tell by themselves how
 * they came to be: the CFA is a distance from one of the two numbers, the saved frame pointer names
 * its own place.  No real stack is touched, nothing depends on the thread, and the unwind tables
 * are read in place. */
#include "core/record/stack_impl.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <fcntl.h>
#include <libunwind-x86_64.h>
#include <string.h>
#include <unistd.h>

#include "core/record/module.h"

#define SONAME "libunwind-x86_64.so.8"

/* The numbers; distances of up to REACH around the first two are told apart. */
#define FAKE_SP (UINT64_C(1) << 44)
#define FAKE_BP (UINT64_C(2) << 44)
#define FAKE_LOADED (UINT64_C(4) << 44) /* + address: what a load from the address gives */
#define REACH (UINT64_C(1) << 40)

#define TABLE_ENCODING 0x3b  /* DW_EH_PE_datarel | DW_EH_PE_sdata4, what every linker writes */
#define ENCODING_BYTES4 0x03 /* DW_EH_PE_udata4; | 8 is sdata4 */

/* What we call, named as in libunwind's headers; all are looked up before any is called. */
static struct {
	__typeof__(unw_create_addr_space) *create_addr_space;
	__typeof__(unw_set_caching_policy) *set_caching_policy;
	__typeof__(unw_init_remote) *init_remote;
	__typeof__(unw_step) *step;
	__typeof__(unw_get_reg) *get_reg;
	int (*dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
					 unw_proc_info_t *, int, void *);
} unw;

static const struct {
	const char *name;
	void **to;
} functions[] = {
    {"_Ux86_64_create_addr_space", (void **)&unw.create_addr_space},
    {"_Ux86_64_set_caching_policy", (void **)&unw.set_caching_policy},
    {"_Ux86_64_init_remote", (void **)&unw.init_remote},
    {"_Ux86_64_step", (void **)&unw.step},
    {"_Ux86_64_get_reg", (void **)&unw.get_reg},
    {"_Ux86_64_dwarf_search_unwind_table", (void **)&unw.dwarf_search_unwind_table},
};

static unw_addr_space_t space;

/* One question.  The stack lock's holder is the only user. */
static struct question {
	uint64_t pc;
	const struct ts_dso *object;
	struct ts_segment segments[TS_SEGMENTS];
	unsigned segment_count;
	bool found;	/* the file has unwind information for pc */
	uint64_t start; /* if so: of the function with pc */
	unw_cursor_t cursor;
} question;

static bool near(uint64_t value, uint64_t number)
{
	return value - (number - REACH) < 2 * REACH;
}

TS_RAW_MEMORY static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value,
				    int write, void *arg)
{
	struct question *q = arg;

	(void)as;
	if (write)
		return -UNW_EREADONLYREG;
	/* The last two: below a CFA that was itself loaded. */
	if (near(address, FAKE_SP) || near(address, FAKE_BP) ||
	    near(address, FAKE_LOADED + FAKE_SP) || near(address, FAKE_LOADED + FAKE_BP)) {
		*value = FAKE_LOADED + address;
		return 0;
	}
	for (unsigned i = 0; i < q->segment_count; i++)
		if (address >= q->segments[i].start && address < q->segments[i].end) {
			memcpy(value, (const void *)(uintptr_t)address, sizeof(*value));
			return 0;
		}
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct question *q = arg;

	(void)as;
	if (write)
		return -UNW_EREADONLYREG;
	switch (reg) {
	case UNW_X86_64_RIP:
		*value = q->pc;
		return 0;
	case UNW_X86_64_RSP:
		*value = FAKE_SP;
		return 0;
	case UNW_X86_64_RBP:
		*value = FAKE_BP;
		return 0;
	default:
		*value = 0;
		return 0; /* not known; a CFA made from it is near neither number */
	}
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)as, (void)reg, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

/* The binary search table of .eh_frame_hdr:
 * version, encodings of (pointer, count, table), the pointer, the count, then pairs of 32 bits. */
TS_RAW_MEMORY static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info,
					int need_unwind_info, void *arg)
{
	struct question *q = arg;
	const uint8_t *header = (const void *)(uintptr_t)q->object->eh_frame_hdr;
	uint32_t count;
	int error;

	if (!header || header[0] != 1 || (header[1] & 7) != ENCODING_BYTES4 ||
	    header[2] != ENCODING_BYTES4 || header[3] != TABLE_ENCODING)
		return -UNW_ENOINFO;
	memcpy(&count, header + 8, sizeof(count));
	unw_dyn_info_t table = {
	    .format = UNW_INFO_FORMAT_REMOTE_TABLE,
	    .start_ip = q->object->start,
	    .end_ip = q->object->end,
	    .u.rti =
		{
		    .segbase = (uintptr_t)header,
		    .table_data = (uintptr_t)header + 12,
		    .table_len = count * UINT64_C(8) / sizeof(unw_word_t),
		},
	};
	error = unw.dwarf_search_unwind_table(as, ip, &table, info, need_unwind_info, arg);
	q->found = error >= 0;
	q->start = info->start_ip;
	return error;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as, (void)info, (void)arg;
}

static int get_dyn_info_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as, (void)list, (void)arg;
	return -UNW_ENOINFO;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t ip, char *name, size_t bytes,
			 unw_word_t *offset, void *arg)
{
	(void)as, (void)ip, (void)name, (void)bytes, (void)offset, (void)arg;
	return -UNW_ENOINFO;
}

/* libunwind makes a pipe for itself when it starts.  The program's own descriptors keep the numbers
 * that they would have without us: those below are filled meanwhile, without taking one that is in
 * use.  Where the limit is low, some stay free for the program's other threads. */
static void fill_low_descriptors(bool filled[TS_FD_LOWEST_MAX])
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = null, end = ts_fd_lowest();

	for (; fd >= 0 && fd < end; fd = fcntl(null, F_DUPFD_CLOEXEC, 0))
		filled[fd] = true;
	if (fd >= 0)
		close(fd);
}

static void free_descriptors(const bool filled[TS_FD_LOWEST_MAX])
{
	for (int fd = 0; fd < TS_FD_LOWEST_MAX; fd++)
		if (filled[fd])
			close(fd);
}

const char *ts_unwind_open(void)
{
	static char why[256];
	static unw_accessors_t accessors = {
	    .find_proc_info = find_proc_info,
	    .put_unwind_info = put_unwind_info,
	    .get_dyn_info_list_addr = get_dyn_info_list,
	    .access_mem = access_mem,
	    .access_reg = access_reg,
	    .access_fpreg = access_fpreg,
	    .resume = resume,
	    .get_proc_name = get_proc_name,
	};
	void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	bool filled[TS_FD_LOWEST_MAX] = {false};

	if (!library) {
		const char *text = dlerror();

		strncpy(why, text ? text : SONAME " cannot be opened", sizeof(why) - 1);
		return why;
	}
	for (size_t i = 0; i < TS_ARRAY_SIZE(functions); i++) {
		*functions[i].to = dlsym(library, functions[i].name);
		if (!*functions[i].to)
			return SONAME " lacks a function that call stacks need";
	}
	fill_low_descriptors(filled);
	space = unw.create_addr_space(&accessors, 0);
	/* Rules are our cache, and libunwind's would survive a dlclose. */
	if (space)
		unw.set_caching_policy(space, UNW_CACHE_NONE);
	free_descriptors(filled);
	return space ? NULL : SONAME ": no memory";
}

/* Put `value` as base and distance: near one of the numbers, or loaded from near one. */
static bool decode(uint64_t value, bool *loaded, bool *from_bp, int64_t *distance)
{
	*loaded = near(value, FAKE_LOADED + FAKE_SP) || near(value, FAKE_LOADED + FAKE_BP);
	if (*loaded)
		value -= FAKE_LOADED;
	*from_bp = near(value, FAKE_BP);
	if (!*from_bp && !near(value, FAKE_SP))
		return false;
	*distance = (int64_t)(value - (*from_bp ? FAKE_BP : FAKE_SP));
	return true;
}

/* Where the caller's frame pointer is.  One that is lost stays unchanged in the rule: then no code
 * above needs it, or its wrong CFA ends the walk. */
static bool decode_bp(struct ts_rule *rule, uint64_t bp, uint64_t cfa)
{
	bool loaded, from_bp;
	int64_t distance = (int64_t)(bp - FAKE_LOADED - cfa);

	if (bp == FAKE_BP)
		return true;
	if (!near(bp - FAKE_LOADED, cfa)) {
		if (!decode(bp, &loaded, &from_bp, &distance) || !loaded)
			return true;
		rule->flags |= from_bp ? TS_RULE_BP_AT_BP : TS_RULE_BP_AT_SP;
	}
	rule->flags |= TS_RULE_BP_SAVED;
	rule->bp = (int16_t)(distance / 8);
	return rule->bp * INT64_C(8) == distance;
}

/* The rule that explains the caller's registers; false when none of our kind does. */
static bool decode_rule(struct ts_rule *rule, uint64_t cfa, uint64_t ip, uint64_t bp)
{
	bool loaded, from_bp;
	int64_t distance;

	if (!decode(cfa, &loaded, &from_bp, &distance) || distance != (int32_t)distance)
		return false;
	rule->cfa = (int32_t)distance;
	rule->flags = (uint8_t)((from_bp ? TS_RULE_CFA_BP : 0) | (loaded ? TS_RULE_CFA_LOAD : 0));
	if (ip != FAKE_LOADED + cfa - 8) {
		uint64_t words = (ip - FAKE_LOADED - FAKE_SP) / 8;

		/* A signal's frame: everything comes from the context at the stack pointer. */
		if (!loaded || from_bp || ip % 8 || words > UINT8_MAX)
			return false;
		rule->flags |= TS_RULE_CONTEXT;
		rule->ip = (uint8_t)words;
	}
	return decode_bp(rule, bp, cfa);
}

/* The question at q->pc; `step`: what libunwind answered.  False: the file knows nothing about it.
 */
static bool ask(struct question *q, int *step)
{
	q->found = false;
	if (unw.init_remote(&q->cursor, space, q))
		return false;
	*step = unw.step(&q->cursor);
	return q->found && *step >= 0; /* not found: what libunwind says then is a guess */
}

struct ts_rule ts_unwind_learn(uint64_t pc, const struct ts_dso *object)
{
	struct question *q = &question;
	struct ts_rule rule = {.pc = pc, .flags = TS_RULE_NO_INFO}, learned = {.pc = pc};
	unw_word_t cfa, ip, bp;
	int step;

	q->pc = pc;
	q->object = object;
	q->segment_count = ts_dso_segments(object, q->segments);
	if (!ask(q, &step)) {
		/* A return address that begins a function and follows none: nobody called from
		 * there, someone put it there to be run last (makecontext). */
		q->pc = pc + 1;
		if (!q->found && ask(q, &step) && q->start == q->pc)
			rule.flags = TS_RULE_END;
		return rule;
	}
	if (step == 0)
		rule.flags = TS_RULE_END;
	else if (!unw.get_reg(&q->cursor, UNW_REG_SP, &cfa) &&
		 !unw.get_reg(&q->cursor, UNW_REG_IP, &ip) &&
		 !unw.get_reg(&q->cursor, UNW_X86_64_RBP, &bp) &&
		 decode_rule(&learned, cfa, ip, bp))
		return learned;
	return rule;
}

#else /* other machines: the walk knows no rules there, stacks are off and say so */

const char *ts_unwind_open(void)
{
	return "call stacks are only taken on x86-64";
}

struct ts_rule ts_unwind_learn(uint64_t pc, const struct ts_dso *object)
{
	(void)object;
	return (struct ts_rule){.pc = pc, .flags = TS_RULE_NO_INFO};
}

#endif
