/* Lines as the writer makes them, in one pass and without a tree.  The scanner is as strict as the
 * parser; whatever it does not know for certain to be right it leaves to the parser. */
#include "core/trace/event.h"

#include <string.h>

#define UNKNOWN_KEYS_MAX                                                                           \
	8 /* more keys that are in no table: the parser finds duplicates among them */

struct scan {
	const char *at;
	struct ts_pool *pool;
	const struct ts_table_info *info;
	struct ts_str unknown[UNKNOWN_KEYS_MAX];
	unsigned unknown_count;
};

/* Which key came after which, in the last event of the table: writers keep an order.  [table][0] is
 * the first key, [table][i + 1] the one after key i. */
static uint8_t follower[TS_EVENT_KINDS][65];

static bool string(struct scan *scan, struct ts_str *text)
{
	bool lone = false;

	return *scan->at == '"' && !ts_scan_string(&scan->at, scan->pool, text, true, &lone) &&
	       !lone;
}

static bool u64(struct scan *scan, uint64_t *value)
{
	struct ts_number number;

	if ((unsigned char)(*scan->at - '0') > 9 || ts_scan_number(&scan->at, &number) ||
	    !number.is_whole)
		return false;
	*value = number.whole;
	return true;
}

static bool f64(struct scan *scan, double *value)
{
	struct ts_number number;

	if (((unsigned char)(*scan->at - '0') > 9 && *scan->at != '-') ||
	    ts_scan_number(&scan->at, &number))
		return false;
	*value = number.real;
	return true;
}

static bool boolean(struct scan *scan, bool *value)
{
	*value = *scan->at == 't';
	if (memcmp(scan->at, *value ? "true" : "false", *value ? 4 : 5))
		return false;
	scan->at += *value ? 4 : 5;
	return true;
}

#define LIST_MAX 256 /* items; longer arrays are the parser's */

static bool u64s(struct scan *scan, struct ts_u64s *list)
{
	uint64_t items[LIST_MAX], *copy;
	size_t count = 0;

	if (*scan->at++ != '[')
		return false;
	if (*scan->at != ']') {
		do {
			if (count == LIST_MAX || !u64(scan, &items[count++]))
				return false;
		} while (*scan->at == ',' && scan->at++);
	}
	if (*scan->at++ != ']')
		return false;
	copy = ts_pool_get(scan->pool, count * sizeof(*copy));
	memcpy(copy, items, count * sizeof(*copy));
	*list = (struct ts_u64s){copy, count};
	return true;
}

static bool strs(struct scan *scan, struct ts_strs *list)
{
	struct ts_str items[LIST_MAX], *copy;
	size_t count = 0;

	if (*scan->at++ != '[')
		return false;
	if (*scan->at != ']') {
		do {
			if (count == LIST_MAX || !string(scan, &items[count++]))
				return false;
		} while (*scan->at == ',' && scan->at++);
	}
	if (*scan->at++ != ']')
		return false;
	copy = ts_pool_get(scan->pool, count * sizeof(*copy));
	memcpy(copy, items, count * sizeof(*copy));
	*list = (struct ts_strs){copy, count};
	return true;
}

static bool word(struct scan *scan, const char *words, uint8_t *value)
{
	struct ts_str text;
	int index;

	if (!string(scan, &text))
		return false;
	index = ts_word_index(words, text);
	*value = (uint8_t)index;
	return index >= 0;
}

static bool value(struct scan *scan, const struct ts_field *field, void *out)
{
	switch (field->type) {
	case TS_TYPE_STR:
		return string(scan, out);
	case TS_TYPE_U64:
		return u64(scan, out);
	case TS_TYPE_F64:
		return f64(scan, out);
	case TS_TYPE_BOOL:
		return boolean(scan, out);
	case TS_TYPE_ENUM:
		return word(scan, field->words, out);
	case TS_TYPE_U64S:
		return u64s(scan, out);
	case TS_TYPE_STRS:
		return strs(scan, out);
	default:
		return false; /* trees: the parser's */
	}
}

/* A value of a key that no table has: a scalar or nothing that we take. */
static bool skip_unknown(struct scan *scan, struct ts_str key)
{
	struct ts_str text;
	double number;
	bool truth;

	for (unsigned i = 0; i < scan->unknown_count; i++)
		if (ts_str_equals(scan->unknown[i], key))
			return false;
	if (scan->unknown_count == UNKNOWN_KEYS_MAX)
		return false;
	scan->unknown[scan->unknown_count++] = key;
	if (*scan->at == '"')
		return string(scan, &text);
	if (*scan->at == 't' || *scan->at == 'f')
		return boolean(scan, &truth);
	return f64(scan, &number);
}

static int find_key(const struct ts_table_info *info, struct ts_str key)
{
	for (unsigned i = 0; i < info->count; i++)
		if (info->fields[i].size == key.size &&
		    !memcmp(info->fields[i].key, key.at, key.size))
			return (int)i;
	return -1;
}

/* memcmp for short texts: keys have 4 to 30 bytes, and a call costs more than the comparison. */
static inline bool same_bytes(const char *a, const char *b, size_t size)
{
	uint64_t x, y, different = 0;
	uint32_t u, v;

	if (size < 4) {
		while (size && *a == *b)
			a++, b++, size--;
		return !size;
	}
	if (size < 8) {
		memcpy(&u, a, 4);
		memcpy(&v, b, 4);
		different = u ^ v;
		memcpy(&u, a + size - 4, 4);
		memcpy(&v, b + size - 4, 4);
		return !(different | (u ^ v));
	}
	for (size_t i = 0; i + 8 < size; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		different |= x ^ y;
	}
	memcpy(&x, a + size - 8, 8);
	memcpy(&y, b + size - 8, 8);
	return !(different | (x ^ y));
}

/* The key at `at`, its quotes and its colon, when it is the expected one. */
static bool is_expected(const char *at, const struct ts_field *field)
{
	return at[0] == '"' && same_bytes(at + 1, field->key, field->size) &&
	       at[field->size + 1] == '"' && at[field->size + 2] == ':';
}

/* All members behind "kind". */
static bool members(struct scan *scan, struct ts_event *event, uint8_t *follow)
{
	unsigned last = 0;

	while (*scan->at == ',') {
		unsigned index = follow[last];
		struct ts_str key;
		int found;

		scan->at++;
		if (index < scan->info->count &&
		    is_expected(scan->at, &scan->info->fields[index])) {
			scan->at += scan->info->fields[index].size + 3;
		} else {
			if (!string(scan, &key) || *scan->at++ != ':')
				return false;
			found = find_key(scan->info, key);
			if (found < 0) {
				if (ts_str_is(key, "kind") || !skip_unknown(scan, key))
					return false;
				continue;
			}
			index = (unsigned)found;
			follow[last] = (uint8_t)index;
		}
		if (event->has >> index & 1 ||
		    !value(scan, &scan->info->fields[index],
			   (char *)&event->meta + scan->info->fields[index].offset))
			return false;
		event->has |= (uint64_t)1 << index;
		last = index + 1;
	}
	return true;
}

static bool find_table(struct scan *scan, enum ts_table *table)
{
	struct ts_str kind;

	if (memcmp(scan->at, "{\"kind\":\"", 9))
		return false;
	scan->at += 8;
	if (!string(scan, &kind))
		return false;
	for (int i = 0; i < TS_EVENT_KINDS; i++) {
		if (kind.size != ts_tables[i].size ||
		    !same_bytes(kind.at, ts_tables[i].name, kind.size))
			continue;
		*table = (enum ts_table)i;
		if (i == TS_TABLE_edge)
			*table = strncmp(scan->at, ",\"edge_kind\":\"call\"", 19)
				     ? TS_TABLE_data_edge
				     : TS_TABLE_call_edge;
		else if (i == TS_TABLE_call_edge || i == TS_TABLE_data_edge ||
			 i == TS_TABLE_terminal)
			return false; /* no kinds of the format; one a file, and wanted as a tree */
		return true;
	}
	return false;
}

bool ts_event_scan(const char *line, size_t size, struct ts_pool *pool, struct ts_event *event)
{
	struct scan scan = {.at = line, .pool = pool};
	const char *end = line + size;

	if (size < 16 || !find_table(&scan, &event->kind))
		return false;
	scan.info = &ts_tables[event->kind];
	memset(&event->meta, 0, sizeof(*event) - offsetof(struct ts_event, meta));
	event->has = 0;
	event->json = NULL;
	if (!members(&scan, event, follower[event->kind]))
		return false;
	if (*scan.at != '}' || scan.at + 1 != end ||
	    (event->has & scan.info->required) != scan.info->required)
		return false;
	if (event->kind == TS_TABLE_data_edge && event->data_edge.edge_kind != 1)
		return false;
	event->unknown =
	    scan.unknown_count + (unsigned)__builtin_popcountll(event->has & scan.info->own);
	return true;
}
