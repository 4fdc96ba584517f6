/* A thread's part of the session; see thread.h. */
#include "core/session/thread.h"

#include <string.h>
#include <sys/mman.h>

#include "core/record/arena.h"
#include "core/record/record.h"
#include "core/session/session.h"

struct ts_api_thread *ts_api_thread(void)
{
	struct ts_thread *self = &ts_self;
	void *memory;

	if (ts_unlikely(!self->spans)) {
		memory = mmap(NULL, sizeof(struct ts_api_thread), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		self->spans = memory == MAP_FAILED ? NULL : memory;
	}
	return self->spans;
}

void ts_session_thread_end(void)
{
	struct ts_api_thread *thread = ts_self.spans;

	if (!thread)
		return;
	if (thread->body.text)
		munmap(thread->body.text, thread->body.room);
	munmap(thread, sizeof(*thread));
	ts_self.spans = NULL;
}

/* What lies at an address may have changed: it is compared. */
uint32_t ts_known_text(struct ts_api_thread *thread, const char *name)
{
	struct ts_known_name *known =
	    &thread->names[((uintptr_t)name ^ (uintptr_t)name >> 6) % TS_KNOWN_NAMES];

	if (ts_unlikely(known->name != name || strcmp(name, known->kept))) {
		const struct ts_entry *entry;
		uint32_t text = ts_arena_text(name);

		entry = ts_arena_get(text);
		if (!entry)
			return 0;
		*known = (struct ts_known_name){ name, (const char *)entry->data, text };
	}
	return known->text;
}

struct ts_frame *ts_open_frame(struct ts_api_thread *thread, uint64_t span)
{
	for (uint32_t i = thread->depth; i > 0; i--)
		if (thread->frames[i - 1].span == span)
			return &thread->frames[i - 1];
	return NULL;
}
