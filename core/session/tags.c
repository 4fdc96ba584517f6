/* Tags of the first line; see tags.h. */
#include "core/session/tags.h"

#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "core/log.h"
#include "core/record/describe.h"

#define MAX_TAGS 256

struct tag {
	const char *key, *value;
	size_t key_bytes, value_bytes;
};

static struct tag given[MAX_TAGS];      /* of tstrace_open; copies */
static size_t given_count;

bool ts_tags_set(const struct tstrace_tag *tags, size_t count)
{
	if (count > MAX_TAGS)
		return false;
	for (size_t i = 0; i < count; i++) {
		char *key = strdup(tags[i].key), *value = strdup(tags[i].value);

		if (!key || !value)
			return false;
		given[i] = (struct tag){ key, value, strlen(key), strlen(value) };
	}
	given_count = count;
	return true;
}

void ts_tags_child(void)
{
	given_count = 0;
}

static int compare(const struct tag *a, const struct tag *b)
{
	size_t bytes = a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes;
	int order = memcmp(a->key, b->key, bytes);

	return order ? order : (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
}

/* Put a tag where its key belongs; one of the same key that is there stays, unless `last` wins. */
static size_t insert(struct tag *tags, size_t count, struct tag tag, bool last)
{
	size_t at = count;

	while (at > 0 && compare(&tags[at - 1], &tag) > 0)
		at--;
	if (at > 0 && !compare(&tags[at - 1], &tag)) {
		if (last)
			tags[at - 1] = tag;
		return count;
	}
	if (count == MAX_TAGS) {
		ts_say_once("more than %d tags; the others are left out", MAX_TAGS);
		return count;
	}
	memmove(&tags[at + 1], &tags[at], (count - at) * sizeof(*tags));
	tags[at] = tag;
	return count + 1;
}

/* key=value,key=value; a later one of the same key wins. */
static size_t read_variable(struct tag *tags)
{
	size_t count = 0;

	for (const char *p = ts_env.tags; *p;) {
		size_t bytes = strcspn(p, ","), key_bytes = strcspn(p, "=,");
		struct tag tag = { p, p + key_bytes + 1, key_bytes, bytes - key_bytes - 1 };

		if (key_bytes && p[key_bytes] == '=')
			count = insert(tags, count, tag, true);
		else if (bytes)
			ts_say("TSTRACE_TAGS: \"%s\" is not key=value and is left out", p);
		p += bytes + (p[bytes] == ',');
	}
	return count;
}

void ts_tags_print(struct ts_lines *line)
{
	const struct tag simulated = { "simulated", "true", 9, 4 };
	struct tag tags[MAX_TAGS];
	size_t count = read_variable(tags);

	for (size_t i = 0; i < given_count; i++)
		count = insert(tags, count, given[i], true);
	/* Not the user's to say. */
	if (ts_describe_simulated())
		count = insert(tags, count, simulated, true);
	ts_line_raw(line, ",\"tags\":{");
	for (size_t i = 0; i < count; i++) {
		ts_line_raw(line, i ? "," : "");
		ts_line_quoted(line, tags[i].key, tags[i].key_bytes);
		ts_line_raw(line, ":");
		ts_line_quoted(line, tags[i].value, tags[i].value_bytes);
	}
	ts_line_raw(line, "}");
}
