/* Texts of NVTX; see nvtx.h.
 *
 * One region of addresses, taken from the front, so that a handle can be told from anything else;
 * found again by hash, in chains whose heads are exchanged. */
#include "preload/nvtx.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define REGION ((size_t)16 << 20)
#define CHAINS 1024u
#define ALIGN 16u

static _Atomic(char *) region;
static _Atomic size_t used;
static _Atomic(const struct ts_nvtx_text *) chains[CHAINS];

static char *make_region(void)
{
	int error = errno;
	char *made, *none = NULL;

	made = mmap(NULL, REGION, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		made = NULL;
	else if (!atomic_compare_exchange_strong(&region, &none, made)) {
		munmap(made, REGION);
		made = none;
	}
	errno = error;
	return made;
}

static struct ts_nvtx_text *take(size_t text_bytes)
{
	size_t bytes = (sizeof(struct ts_nvtx_text) + text_bytes + ALIGN) & ~(size_t)(ALIGN - 1);
	char *base = atomic_load(&region);
	size_t at = atomic_load(&used);

	if (!base)
		base = make_region();
	do {
		if (!base || bytes > REGION - at)
			return NULL;
	} while (!atomic_compare_exchange_weak(&used, &at, at + bytes));
	return (void *)(base + at);
}

/* A category is found by its number, all else by its text. */
static _Atomic(const struct ts_nvtx_text *) *chain(enum ts_nvtx_kind kind, const void *domain,
						   uint32_t number, const char *text)
{
	uint64_t hash = (uintptr_t)domain / ALIGN * 31 + number * 7u + kind;

	for (; kind != TS_NVTX_CATEGORY && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return &chains[(hash ^ hash >> 20) % CHAINS];
}

const struct ts_nvtx_text *ts_nvtx_category(const void *domain, uint32_t number)
{
	const struct ts_nvtx_text *t = atomic_load(chain(TS_NVTX_CATEGORY, domain, number, ""));

	while (t && (t->kind != TS_NVTX_CATEGORY || t->domain != domain || t->number != number))
		t = t->next;
	return t;
}

static const struct ts_nvtx_text *find(const struct ts_nvtx_text *t, enum ts_nvtx_kind kind,
				       const void *domain, const char *text)
{
	while (t && (t->kind != kind || t->domain != domain || strcmp(t->text, text)))
		t = t->next;
	return t;
}

const struct ts_nvtx_text *ts_nvtx_keep(enum ts_nvtx_kind kind, const void *domain, uint32_t number,
					const char *text)
{
	_Atomic(const struct ts_nvtx_text *) *head;
	const struct ts_nvtx_text *there;
	struct ts_nvtx_text *made;

	if (!text)
		return NULL;
	head = chain(kind, domain, number, text);
	there = kind == TS_NVTX_CATEGORY ? ts_nvtx_category(domain, number)
					 : find(atomic_load(head), kind, domain, text);
	if (there && !strcmp(there->text, text))
		return there;
	made = take(strlen(text));
	if (!made)
		return NULL;
	made->kind = kind;
	made->domain = domain;
	made->number = number;
	strcpy(made->text, text);
	made->next = atomic_load(head);
	while (!atomic_compare_exchange_weak(head, &made->next, made))
		;
	return made;
}

const struct ts_nvtx_text *ts_nvtx_text(enum ts_nvtx_kind kind, const void *handle)
{
	uintptr_t base = (uintptr_t)atomic_load(&region), at = (uintptr_t)handle - base;
	const struct ts_nvtx_text *text = handle;

	if (!base || at >= atomic_load(&used) || at % ALIGN || text->kind != kind)
		return NULL;
	return text;
}

const char *ts_nvtx_utf8(struct ts_lines *line, const wchar_t *text)
{
	line->used = line->whole = 0;
	line->broken = false;
	for (; text && *text; text++) {
		uint32_t c = (uint32_t)*text;
		unsigned char b[4];
		size_t bytes;

		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		for (size_t i = bytes; i-- > 1; c >>= 6)
			b[i] = (unsigned char)(0x80 | (c & 0x3f));
		b[0] = (unsigned char)(bytes == 1 ? c : (0xf00u >> bytes & 0xf0u) | c);
		ts_line_bytes(line, b, bytes);
	}
	ts_line_bytes(line, "", 1);
	return text && !line->broken ? (const char *)line->text : NULL;
}
