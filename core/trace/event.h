/* Events as C structs, made from fields.def: a struct a table, a member a key of the same name, and
 * a bit in `has` for each key that the line gave. */
#ifndef TS_TRACE_EVENT_H
#define TS_TRACE_EVENT_H

#include "core/trace/json.h"

struct ts_u64s { const uint64_t *at; size_t count; };
struct ts_strs { const struct ts_str *at; size_t count; };

#define TS_C_STR struct ts_str
#define TS_C_U64 uint64_t
#define TS_C_F64 double
#define TS_C_BOOL bool
#define TS_C_ENUM uint8_t	/* index of the word in the list */
#define TS_C_U64S struct ts_u64s
#define TS_C_STRS struct ts_strs
#define TS_C_OBJ const struct ts_json *
#define TS_C_OBJS const struct ts_json *
#define TS_C_MAP const struct ts_json *
#define TS_C_ANY const struct ts_json *

#define TS_TABLE(table) struct ts_ev_##table {
#define TS_FIELD(table, mark, type, key, argument) TS_C_##type key;
#define TS_END(table) };
#include "core/trace/fields.def"
#undef TS_TABLE
#undef TS_FIELD
#undef TS_END

enum ts_table {
#define TS_TABLE(table) TS_TABLE_##table,
#define TS_FIELD(table, mark, type, key, argument)
#define TS_END(table)
#include "core/trace/fields.def"
#undef TS_TABLE
	TS_TABLES
};

/* Index of each key in its table, as TS_KEY_op_bytes. */
#define TS_TABLE(table) enum {
#undef TS_FIELD
#define TS_FIELD(table, mark, type, key, argument) TS_KEY_##table##_##key,
#undef TS_END
#define TS_END(table) TS_KEYS_##table };
#include "core/trace/fields.def"
#undef TS_TABLE
#undef TS_FIELD
#undef TS_END

#define TS_EVENT_KINDS (TS_TABLE_terminal + 1)	/* the tables behind are parts of meta */

enum { TS_ACTION_ALLOC, TS_ACTION_FREE };
enum { TS_OUTCOME_COMPLETE, TS_OUTCOME_FAILED };
enum { TS_PHASE_TRAIN, TS_PHASE_INFER };
enum { TS_GRADIENT_PRESENT, TS_GRADIENT_MISSING, TS_GRADIENT_ZERO, TS_GRADIENT_NON_FINITE };
enum { TS_STEP_FORWARD, TS_STEP_BACKWARD, TS_STEP_OPTIMIZER, TS_STEPS };

/* One event.  All that it points to is valid until the next line is read. */
struct ts_event {
	enum ts_table kind;		/* an edge is TS_TABLE_call_edge or TS_TABLE_data_edge */
	uint64_t line;			/* from 1 */
	uint64_t has;			/* bit i: key i of the table was given and is not null */
	unsigned unknown;		/* keys that are not the schema's, also nested ones */
	const struct ts_json *json;	/* the event as a tree; NULL from the fast scanner */
	union {
#define TS_TABLE(table) struct ts_ev_##table table;
#define TS_FIELD(table, mark, type, key, argument)
#define TS_END(table)
#include "core/trace/fields.def"
#undef TS_TABLE
#undef TS_FIELD
#undef TS_END
	};
};

/* True when the line gave this key. */
#define ts_event_has(event, table, key) (((event)->has >> TS_KEY_##table##_##key) & 1)

/* What is wrong with a line.  Codes that begin with parse_ make the line unreadable. */
struct ts_problem {
	const char *code;
	char text[160];
};

#define TS_PROBLEMS_MAX 64	/* of one line; more are counted, not kept */

struct ts_problems {
	struct ts_problem at[TS_PROBLEMS_MAX];
	size_t count;		/* may exceed what is kept */
};

void ts_problem_add(struct ts_problems *problems, const char *code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* True when one of them begins with parse_. */
bool ts_problems_prevent_reading(const struct ts_problems *problems);

/* The name of a kind as it stands in the file ("edge" for both edges). */
const char *ts_table_name(enum ts_table table);

/* How the line of an event is turned into the struct; `size` is without the '\n' that ends it. */

/* The strict scanner for lines as the writer makes them.  False: the line needs ts_event_parse,
 * which also says why. */
bool ts_event_scan(const char *line, size_t size, struct ts_pool *pool, struct ts_event *event);

/* Any line.  The event is filled in as far as `problems` allow. */
void ts_event_parse(const char *line, size_t size, struct ts_pool *pool, struct ts_event *event,
		    struct ts_problems *problems);

/* The rules that need this one event only. */
void ts_event_judge(const struct ts_event *event, struct ts_problems *problems);

/* --- the tables behind, for the two above and for tests --- */

enum ts_field_type {
	TS_TYPE_STR, TS_TYPE_U64, TS_TYPE_F64, TS_TYPE_BOOL, TS_TYPE_ENUM, TS_TYPE_U64S,
	TS_TYPE_STRS, TS_TYPE_OBJ, TS_TYPE_OBJS, TS_TYPE_MAP, TS_TYPE_ANY,
};

enum ts_field_mark { TS_MARK_R, TS_MARK_D, TS_MARK_O, TS_MARK_X };

struct ts_field {
	const char *key;
	uint8_t size;			/* of the key */
	uint8_t type, mark;
	uint16_t offset;		/* in the struct of the table */
	enum ts_table table;		/* of OBJ and OBJS */
	const char *words;		/* of ENUM */
};

struct ts_table_info {
	const char *name;
	size_t size;			/* of the name */
	const struct ts_field *fields;
	unsigned count;
	uint64_t required;		/* bits of the keys marked R */
	uint64_t own;			/* bits of the keys marked X */
};

extern const struct ts_table_info ts_tables[TS_TABLES];

/* The index of `word` in a list like "alloc|free", or -1. */
int ts_word_index(const char *words, struct ts_str word);

#endif
