/* The tables of fields.def as data. */
#include "core/trace/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What the last argument of a row means depends on its type. */
#define ARG_STR(x) 0, NULL
#define ARG_U64(x) 0, NULL
#define ARG_F64(x) 0, NULL
#define ARG_BOOL(x) 0, NULL
#define ARG_U64S(x) 0, NULL
#define ARG_STRS(x) 0, NULL
#define ARG_MAP(x) 0, NULL
#define ARG_ANY(x) 0, NULL
#define ARG_ENUM(x) 0, x
#define ARG_OBJ(x) TS_TABLE_##x, NULL
#define ARG_OBJS(x) TS_TABLE_##x, NULL

#define TS_TABLE(table) static const struct ts_field fields_of_##table[] = {
#define TS_FIELD(table, mark, type, key, argument) \
	{ #key, sizeof(#key) - 1, TS_TYPE_##type, TS_MARK_##mark, \
	  offsetof(struct ts_ev_##table, key), ARG_##type(argument) },
#define TS_END(table) };
#include "core/trace/fields.def"
#undef TS_TABLE
#undef TS_FIELD
#undef TS_END

#define BIT_IF(table, mark, wanted, key) \
	((uint64_t)(TS_MARK_##mark == TS_MARK_##wanted) << TS_KEY_##table##_##key)

#define TS_TABLE(table) static const uint64_t required_of_##table = 0
#define TS_FIELD(table, mark, type, key, argument) | BIT_IF(table, mark, R, key)
#define TS_END(table) ;
#include "core/trace/fields.def"
#undef TS_TABLE
#undef TS_FIELD
#undef TS_END

#define TS_TABLE(table) static const uint64_t own_of_##table = 0
#define TS_FIELD(table, mark, type, key, argument) | BIT_IF(table, mark, X, key)
#define TS_END(table) ;
#include "core/trace/fields.def"
#undef TS_TABLE
#undef TS_FIELD
#undef TS_END

#define TS_FIELD(table, mark, type, key, argument)
#define TS_END(table)
#define TS_TABLE(table) _Static_assert(TS_KEYS_##table <= 64, "more keys than bits in `has`");
#include "core/trace/fields.def"
#undef TS_TABLE

const struct ts_table_info ts_tables[TS_TABLES] = {
#define TS_TABLE(table) \
	{ #table, sizeof(#table) - 1, fields_of_##table, TS_KEYS_##table, \
	  required_of_##table, own_of_##table },
#include "core/trace/fields.def"
};

const char *ts_table_name(enum ts_table table)
{
	if (table == TS_TABLE_call_edge || table == TS_TABLE_data_edge)
		return "edge";
	return ts_tables[table].name;
}

int ts_word_index(const char *words, struct ts_str word)
{
	for (int index = 0;; index++) {
		size_t length = strcspn(words, "|");

		if (length == word.size && !memcmp(words, word.at, length))
			return index;
		if (!words[length])
			return -1;
		words += length + 1;
	}
}

void ts_problem_add(struct ts_problems *problems, const char *code, const char *format, ...)
{
	size_t index = problems->count++;
	va_list args;

	if (index >= TS_PROBLEMS_MAX)
		return;
	problems->at[index].code = code;
	va_start(args, format);
	vsnprintf(problems->at[index].text, sizeof(problems->at[index].text), format, args);
	va_end(args);
}

bool ts_problems_prevent_reading(const struct ts_problems *problems)
{
	for (size_t i = 0; i < problems->count && i < TS_PROBLEMS_MAX; i++)
		if (!strncmp(problems->at[i].code, "parse_", 6))
			return true;
	return false;
}
