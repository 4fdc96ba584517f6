#include "core/trace/json.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX                                                                                  \
	900 /* levels of nesting; far more than any event has, far less than the stack holds */
#define FEW_KEYS 24 /* up to here comparing all pairs is cheaper than sorting */

struct parser {
	const char *at;
	const char *end; /* the '\n' of the line: white space, but not ours to skip */
	struct ts_pool *pool;
	bool lone_surrogate;
	int depth;
};

static enum ts_scan_error parse_value(struct parser *parser, struct ts_json *value);

static void skip_space(struct parser *parser)
{
	while (parser->at != parser->end && ts_is_space(*parser->at))
		parser->at++;
}

static int compare_keys(const void *a, const void *b)
{
	const struct ts_str *x = *(const struct ts_str *const *)a,
			    *y = *(const struct ts_str *const *)b;
	int order = memcmp(x->at, y->at, x->size < y->size ? x->size : y->size);

	return order ? order : (x->size > y->size) - (x->size < y->size);
}

static bool has_duplicate(const struct ts_json *object)
{
	const struct ts_str **keys;
	size_t n = 0;
	bool found = false;

	if (object->list.count <= FEW_KEYS) {
		for (const struct ts_json *a = object->list.first; a; a = a->next)
			for (const struct ts_json *b = a->next; b; b = b->next)
				if (ts_str_equals(a->key, b->key))
					return true;
		return false;
	}
	keys = ts_grow(NULL, object->list.count * sizeof(*keys));
	for (const struct ts_json *member = object->list.first; member; member = member->next)
		keys[n++] = &member->key;
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < n && !found; i++)
		found = ts_str_equals(*keys[i - 1], *keys[i]);
	free(keys);
	return found;
}

/* The key of a member and the colon behind it. */
static enum ts_scan_error parse_key(struct parser *parser, struct ts_str *key)
{
	enum ts_scan_error error;

	if (*parser->at != '"')
		return TS_SCAN_SYNTAX;
	error = ts_scan_string(&parser->at, parser->pool, key, false, &parser->lone_surrogate);
	if (error)
		return error;
	skip_space(parser);
	if (*parser->at != ':')
		return TS_SCAN_SYNTAX;
	parser->at++;
	return TS_SCAN_OK;
}

/* The rest of an array or object; `closing` tells which. */
static enum ts_scan_error parse_list(struct parser *parser, struct ts_json *list, char closing)
{
	struct ts_json **tail = &list->list.first;

	list->list.first = NULL;
	list->list.count = 0;
	parser->at++;
	if (++parser->depth > DEPTH_MAX)
		return TS_SCAN_SYNTAX;
	skip_space(parser);
	while (*parser->at != closing || list->list.count) {
		struct ts_json *item = ts_pool_get(parser->pool, sizeof(*item));
		enum ts_scan_error error = TS_SCAN_OK;

		*item = (struct ts_json){.type = TS_JSON_NULL};
		skip_space(parser);
		if (closing == '}')
			error = parse_key(parser, &item->key);
		skip_space(parser);
		if (!error)
			error = parse_value(parser, item);
		if (error)
			return error;
		*tail = item;
		tail = &item->next;
		list->list.count++;
		skip_space(parser);
		if (*parser->at == closing)
			break;
		if (*parser->at != ',')
			return TS_SCAN_SYNTAX;
		parser->at++;
	}
	parser->at++;
	parser->depth--;
	return closing == '}' && has_duplicate(list) ? TS_SCAN_DUPLICATE : TS_SCAN_OK;
}

static enum ts_scan_error parse_word(struct parser *parser, struct ts_json *value)
{
	static const struct {
		const char *word;
		enum ts_json_type type;
		bool truth;
	} words[] = {
	    {"true", TS_JSON_BOOLEAN, true},
	    {"false", TS_JSON_BOOLEAN, false},
	    {"null", TS_JSON_NULL, false},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].word);

		if (strncmp(parser->at, words[i].word, length))
			continue;
		value->type = words[i].type;
		value->truth = words[i].truth;
		parser->at += length;
		return TS_SCAN_OK;
	}
	return strncmp(parser->at, "NaN", 3) && strncmp(parser->at, "Infinity", 8)
		   ? TS_SCAN_SYNTAX
		   : TS_SCAN_NON_FINITE;
}

static enum ts_scan_error parse_value(struct parser *parser, struct ts_json *value)
{
	switch (*parser->at) {
	case '{':
		value->type = TS_JSON_OBJECT;
		return parse_list(parser, value, '}');
	case '[':
		value->type = TS_JSON_ARRAY;
		return parse_list(parser, value, ']');
	case '"':
		value->type = TS_JSON_STRING;
		return ts_scan_string(&parser->at, parser->pool, &value->string, false,
				      &parser->lone_surrogate);
	case '-':
	case '0' ... '9':
		value->type = TS_JSON_NUMBER;
		return ts_scan_number(&parser->at, &value->number);
	default:
		return parse_word(parser, value);
	}
}

static enum ts_scan_error parse_line(struct parser *parser, const char *line, size_t size,
				     struct ts_json *root)
{
	enum ts_scan_error error;
	size_t valid;

	if (memchr(line, '\0', size)) {
		parser->at = memchr(line, '\0', size);
		return TS_SCAN_NUL;
	}
	valid = ts_utf8_check(line, size);
	if (valid != size) {
		parser->at = line + valid;
		return TS_SCAN_UTF8;
	}
	skip_space(parser);
	error = parse_value(parser, root);
	if (error)
		return error;
	skip_space(parser);
	if (parser->at != parser->end)
		return TS_SCAN_SYNTAX;
	if (parser->lone_surrogate)
		return TS_SCAN_SURROGATE;
	return root->type == TS_JSON_OBJECT ? TS_SCAN_OK : TS_SCAN_NOT_OBJECT;
}

enum ts_scan_error ts_json_parse(const char *line, size_t size, struct ts_pool *pool,
				 struct ts_json **root, size_t *offset)
{
	struct parser parser = {.at = line, .end = line + size, .pool = pool};
	enum ts_scan_error error;

	*root = ts_pool_get(pool, sizeof(**root));
	**root = (struct ts_json){.type = TS_JSON_NULL};
	error = parse_line(&parser, line, size, *root);
	*offset = (size_t)(parser.at - line);
	if (*offset > size)
		*offset = size;
	return error;
}

const struct ts_json *ts_json_get(const struct ts_json *object, const char *key)
{
	if (!object || object->type != TS_JSON_OBJECT)
		return NULL;
	for (const struct ts_json *member = object->list.first; member; member = member->next)
		if (ts_str_is(member->key, key))
			return member;
	return NULL;
}

struct ts_str ts_json_text(const struct ts_json *object, const char *key, const char *otherwise)
{
	const struct ts_json *value = ts_json_get(object, key);

	if (value && value->type == TS_JSON_STRING)
		return value->string;
	return (struct ts_str){otherwise, otherwise ? strlen(otherwise) : 0};
}

struct ts_json *ts_json_copy(const struct ts_json *value, struct ts_pool *pool)
{
	struct ts_json *copy = ts_pool_get(pool, sizeof(*copy)), **tail;

	*copy = *value;
	copy->next = NULL;
	if (value->key.at)
		copy->key = ts_pool_copy(pool, value->key);
	if (value->type == TS_JSON_STRING)
		copy->string = ts_pool_copy(pool, value->string);
	if (value->type != TS_JSON_ARRAY && value->type != TS_JSON_OBJECT)
		return copy;
	copy->list.first = NULL;
	tail = &copy->list.first;
	for (const struct ts_json *item = value->list.first; item; item = item->next) {
		*tail = ts_json_copy(item, pool);
		tail = &(*tail)->next;
	}
	return copy;
}
