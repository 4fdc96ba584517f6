/* tstrace env: the variables that shape the recording. */
#include "core/cli/verb.h"
#include "core/env.h"
#include "core/out/format.h"
#include "core/out/json_value.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { TEXT, UINT, SIZE, ENUM };

/* A row of core/env.def as values: core/env.h has the rows as the table spells them. */
struct row {
	const char *name;
	enum kind kind;
	const char *text;	   /* default of TEXT, words of ENUM */
	uint64_t value, low, high; /* of the others */
	const char *help;
};

#define ROW_TEXT(value, lo, hi) .text = value
#define ROW_UINT(standard, lo, hi) .value = standard, .low = lo, .high = hi
#define ROW_SIZE(standard, lo, hi) .value = standard, .low = lo, .high = hi
#define ROW_ENUM(standard, lo, hi) .value = standard, .text = hi

static const struct row rows[] = {
#define TS_ENV(type, NAME, field, standard, lo, hi, meaning)                                       \
	{.name = "TSTRACE_" #NAME, .kind = type, ROW_##type(standard, lo, hi), .help = meaning},
#include "core/env.def"
#undef TS_ENV
};

static const char *const kind_names[] = {
    [TEXT] = "text", [UINT] = "number", [SIZE] = "size", [ENUM] = "choice"};

static const char details[] =
    "For each variable: type, default, range and meaning, and the value that is set now.  Warns on "
    "standard error of\n"
    "TSTRACE_ variables that do not exist and of values that cannot be used (the default is then "
    "in force).\n"
    "\n"
    "      --json  print one JSON array instead\n"
    "\n"
    "Exit status: 0 every variable is good, 1 one is not, 2 wrong usage.\n";

/* 1048576 as 1M, as it may be set. */
static struct ts_short size_text(uint64_t bytes)
{
	static const char units[] = "KMG";
	struct ts_short out;
	int unit = -1;

	while (bytes && !(bytes % 1024) && unit < 2) {
		bytes /= 1024;
		unit++;
	}
	snprintf(out.text, sizeof(out.text), "%" PRIu64 "%.*s", bytes, unit >= 0,
		 unit >= 0 ? units + unit : "");
	return out;
}

static struct ts_short number_text(const struct row *row, uint64_t value)
{
	struct ts_short out;

	if (row->kind == SIZE)
		return size_text(value);
	snprintf(out.text, sizeof(out.text), "%" PRIu64, value);
	return out;
}

static struct ts_short default_text(const struct row *row)
{
	struct ts_short out;
	const char *word = row->text;

	if (row->kind == UINT || row->kind == SIZE)
		return number_text(row, row->value);
	for (uint64_t i = row->kind == ENUM ? row->value : 0; i; i--)
		word += strcspn(word, ",") + 1;
	snprintf(out.text, sizeof(out.text), "%.*s",
		 (int)(row->kind == ENUM ? strcspn(word, ",") : strlen(word)), word);
	return out;
}

static void range_text(const struct row *row, char *text, size_t size)
{
	text[0] = '\0';
	if (row->kind == ENUM)
		snprintf(text, size, "%s", row->text);
	else if (row->kind != TEXT)
		snprintf(text, size, "%s to %s", number_text(row, row->low).text,
			 number_text(row, row->high).text);
}

static void print_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		char range[160];

		range_text(&rows[i], range, sizeof(range));
		json_array_append_new(list,
				      json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "name",
						ts_json_string(rows[i].name), "type",
						ts_json_string(kind_names[rows[i].kind]), "range",
						ts_json_string(range), "default",
						ts_json_string(default_text(&rows[i]).text),
						"set_to", ts_json_string(getenv(rows[i].name)),
						"meaning", ts_json_string(rows[i].help)));
	}
	ts_json_print(list, stdout);
}

static void print_text(void)
{
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		const char *set = getenv(rows[i].name);
		char range[160];

		range_text(&rows[i], range, sizeof(range));
		printf("%-24s %s", rows[i].name, kind_names[rows[i].kind]);
		if (*range)
			printf(" (%s)", range);
		/* Without a fixed default, the meaning says what is in force. */
		if (*default_text(&rows[i]).text)
			printf(", default %s", default_text(&rows[i]).text);
		putchar('\n');
		if (set) {
			printf("%24s set to ", "");
			ts_print_name(
			    stdout,
			    (struct ts_str){*set ? set : "(empty)", strlen(*set ? set : "(empty)")},
			    200);
			putchar('\n');
		}
		printf("%24s %s\n", "", rows[i].help);
	}
}

static void warn(const char *text)
{
	fprintf(stderr, "tstrace env: %s\n", text);
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
	    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool json = false;
	int letter, bad;

	opterr = 0;
	optind = 1;
	while ((letter = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (letter == 'h')
			return ts_finish_stdout(ts_verb_help(&ts_verb_env));
		if (letter == '?')
			return ts_verb_misuse(&ts_verb_env, "option %s is not known",
					      argv[optind - 1]);
		json = true;
	}
	if (optind < argc)
		return ts_verb_misuse(&ts_verb_env, "it takes no argument");
	signal(SIGPIPE, SIG_IGN);
	(json ? print_json : print_text)();
	bad = ts_env_read(environ, warn);
	return ts_finish_stdout(bad ? TS_EXIT_NO : TS_EXIT_OK);
}

const struct ts_verb ts_verb_env = {
    .name = "env",
    .args = "[--json]",
    .help = "list the variables that shape the recording",
    .details = details,
    .run = run,
};
