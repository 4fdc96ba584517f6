/* Any line: a tree first, then the tables. */
#include "core/trace/event.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *code, *what;
} scan_errors[] = {
    [TS_SCAN_SYNTAX] = {"parse_json", "not valid JSON"},
    [TS_SCAN_NON_FINITE] = {"parse_non_finite_number", "a number that is not finite"},
    [TS_SCAN_DUPLICATE] = {"parse_duplicate_key", "a key is given twice in one object"},
    [TS_SCAN_UTF8] = {"parse_utf8", "not valid UTF-8"},
    [TS_SCAN_NUL] = {"parse_nul", "a NUL byte"},
    [TS_SCAN_SURROGATE] = {"parse_lone_surrogate", "an escape of half a character"},
    [TS_SCAN_NOT_OBJECT] = {"parse_not_object", "the line is not a JSON object"},
};

/* The name of a type as messages show it. */
static const char *type_name(const struct ts_field *field)
{
	static const char *const names[] = {
	    [TS_TYPE_STR] = "a string",
	    [TS_TYPE_U64] = "an integer from 0 to 2^64-1",
	    [TS_TYPE_F64] = "a number",
	    [TS_TYPE_BOOL] = "true or false",
	    [TS_TYPE_U64S] = "an array of integers from 0 to 2^64-1",
	    [TS_TYPE_STRS] = "an array of strings",
	    [TS_TYPE_OBJ] = "an object",
	    [TS_TYPE_OBJS] = "an array of objects",
	    [TS_TYPE_MAP] = "an object of strings",
	    [TS_TYPE_ANY] = "a value",
	};

	return field->type == TS_TYPE_ENUM ? field->words : names[field->type];
}

struct check {
	struct ts_pool *pool;
	struct ts_problems *problems;
	const char *path; /* in front of the key: "" or "capture_contract." */
	unsigned unknown;
};

static void check_table(struct check *check, enum ts_table table, const struct ts_json *object,
			void *out, uint64_t *has);

static bool misfit(struct check *check, const struct ts_field *field, const char *code)
{
	if (field->mark != TS_MARK_X)
		ts_problem_add(check->problems, code, "%s%s does not fit: it must be %s",
			       check->path, field->key, type_name(field));
	return false;
}

static bool take_u64s(struct check *check, const struct ts_field *field,
		      const struct ts_json *value, void *out)
{
	uint64_t *items = ts_pool_get(check->pool, value->list.count * sizeof(*items));
	size_t count = 0;
	bool fits = true;

	for (const struct ts_json *item = value->list.first; item; item = item->next) {
		if (item->type != TS_JSON_NUMBER || !item->number.is_whole)
			fits = misfit(check, field, "parse_u64");
		else
			items[count++] = item->number.whole;
	}
	*(struct ts_u64s *)out = (struct ts_u64s){items, count};
	return fits;
}

static bool take_strs(struct check *check, const struct ts_field *field,
		      const struct ts_json *value, void *out)
{
	struct ts_str *items = ts_pool_get(check->pool, value->list.count * sizeof(*items));
	size_t count = 0;
	bool fits = true;

	for (const struct ts_json *item = value->list.first; item; item = item->next) {
		if (item->type != TS_JSON_STRING)
			fits = misfit(check, field, "parse_type");
		else
			items[count++] = item->string;
	}
	*(struct ts_strs *)out = (struct ts_strs){items, count};
	return fits;
}

/* The fields of a nested object are checked and stay in the tree. */
static bool take_object(struct check *check, const struct ts_field *field,
			const struct ts_json *value)
{
	struct ts_event scratch;
	char path[96];
	struct check inner = *check;
	uint64_t has;

	if (value->type != TS_JSON_OBJECT)
		return misfit(check, field, "parse_type");
	snprintf(path, sizeof(path), "%s%s.", check->path, field->key);
	inner.path = path;
	inner.unknown = 0;
	check_table(&inner, field->table, value, &scratch.meta, &has);
	check->unknown += inner.unknown;
	return true;
}

static bool take_tree(struct check *check, const struct ts_field *field,
		      const struct ts_json *value, void *out)
{
	bool fits = true;

	*(const struct ts_json **)out = value;
	switch (field->type) {
	case TS_TYPE_OBJ:
		return take_object(check, field, value);
	case TS_TYPE_OBJS:
		if (value->type != TS_JSON_ARRAY)
			return misfit(check, field, "parse_type");
		for (const struct ts_json *item = value->list.first; item; item = item->next)
			fits &= take_object(check, field, item);
		return fits;
	case TS_TYPE_MAP:
		if (value->type != TS_JSON_OBJECT)
			return misfit(check, field, "parse_type");
		for (const struct ts_json *item = value->list.first; item; item = item->next)
			if (item->type != TS_JSON_STRING)
				fits = misfit(check, field, "parse_type");
		return fits;
	default:
		return true;
	}
}

static bool take_word(struct check *check, const struct ts_field *field,
		      const struct ts_json *value, void *out)
{
	int index;

	if (value->type != TS_JSON_STRING)
		return misfit(check, field, "parse_type");
	index = ts_word_index(field->words, value->string);
	if (index < 0)
		return misfit(check, field, "parse_enum");
	*(uint8_t *)out = (uint8_t)index;
	return true;
}

/* Stores a value that fits its field; else adds what is wrong. */
static bool take_value(struct check *check, const struct ts_field *field,
		       const struct ts_json *value, void *out)
{
	switch (field->type) {
	case TS_TYPE_STR:
		if (value->type != TS_JSON_STRING)
			return misfit(check, field, "parse_type");
		*(struct ts_str *)out = value->string;
		return true;
	case TS_TYPE_U64:
		if (value->type != TS_JSON_NUMBER || !value->number.is_whole)
			return misfit(check, field, "parse_u64");
		*(uint64_t *)out = value->number.whole;
		return true;
	case TS_TYPE_F64:
		if (value->type != TS_JSON_NUMBER)
			return misfit(check, field, "parse_type");
		*(double *)out = value->number.real;
		return true;
	case TS_TYPE_BOOL:
		if (value->type != TS_JSON_BOOLEAN)
			return misfit(check, field, "parse_type");
		*(bool *)out = value->truth;
		return true;
	case TS_TYPE_ENUM:
		return take_word(check, field, value, out);
	case TS_TYPE_U64S:
	case TS_TYPE_STRS:
		if (value->type != TS_JSON_ARRAY)
			return misfit(check, field, "parse_type");
		return (field->type == TS_TYPE_U64S ? take_u64s : take_strs)(check, field, value,
									     out);
	default:
		return take_tree(check, field, value, out);
	}
}

static void check_table(struct check *check, enum ts_table table, const struct ts_json *object,
			void *out, uint64_t *has)
{
	const struct ts_table_info *info = &ts_tables[table];
	unsigned known = 0;

	*has = 0;
	for (unsigned i = 0; i < info->count; i++) {
		const struct ts_field *field = &info->fields[i];
		const struct ts_json *value = ts_json_get(object, field->key);

		if (!value) {
			if (field->mark == TS_MARK_R)
				ts_problem_add(check->problems, "parse_missing_key",
					       "%s%s is missing", check->path, field->key);
			continue;
		}
		known += field->mark != TS_MARK_X;
		if (value->type == TS_JSON_NULL) {
			if (field->mark < TS_MARK_O)
				ts_problem_add(check->problems, "parse_null",
					       "%s%s must not be null", check->path, field->key);
		} else if (take_value(check, field, value, (char *)out + field->offset)) {
			*has |= (uint64_t)1 << i;
		}
	}
	check->unknown += (unsigned)object->list.count - known;
}

/* The table of an event, or TS_TABLES when its kind is none. */
static enum ts_table table_of(const struct ts_json *root)
{
	struct ts_str kind = ts_json_text(root, "kind", ""),
		      edge = ts_json_text(root, "edge_kind", "");

	for (int table = 0; table < TS_EVENT_KINDS; table++) {
		if (table == TS_TABLE_call_edge || table == TS_TABLE_data_edge ||
		    !ts_str_is(kind, ts_tables[table].name))
			continue;
		if (table != TS_TABLE_edge)
			return (enum ts_table)table;
		return ts_str_is(edge, "call")	 ? TS_TABLE_call_edge
		       : ts_str_is(edge, "data") ? TS_TABLE_data_edge
						 : TS_TABLE_edge;
	}
	return TS_TABLES;
}

static void no_kind(const struct ts_json *root, struct ts_problems *problems)
{
	struct ts_str kind = ts_json_text(root, "kind", NULL);

	if (kind.at)
		ts_problem_add(problems, "parse_kind", "\"%.*s\" is no kind of event",
			       kind.size > 60 ? 60 : (int)kind.size, kind.at);
	else
		ts_problem_add(problems, "parse_kind", "no \"kind\": every event names its kind");
}

void ts_event_parse(const char *line, size_t size, struct ts_pool *pool, struct ts_event *event,
		    struct ts_problems *problems)
{
	struct check check = {.pool = pool, .problems = problems, .path = ""};
	struct ts_json *root;
	size_t offset;
	enum ts_scan_error error = ts_json_parse(line, size, pool, &root, &offset);

	if (error) {
		bool has_mark = size >= 3 && !memcmp(line, "\xef\xbb\xbf", 3);

		ts_problem_add(problems, scan_errors[error].code, "%s at byte %zu of the line%s",
			       scan_errors[error].what, offset + 1,
			       has_mark ? "; a byte order mark must not be there" : "");
		return;
	}
	event->json = root;
	event->kind = table_of(root);
	if (event->kind == TS_TABLES) {
		no_kind(root, problems);
		return;
	}
	memset(&event->meta, 0, sizeof(*event) - offsetof(struct ts_event, meta));
	check_table(&check, event->kind, root, &event->meta, &event->has);
	event->unknown = check.unknown - 1; /* `kind` is in no table */
}
