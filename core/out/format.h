/* Numbers and names as people read them. */
#ifndef TS_OUT_FORMAT_H
#define TS_OUT_FORMAT_H

#include "core/trace/pool.h"

#include <stdio.h>

struct ts_short {
	char text[64];
};

struct ts_short ts_format_ns(uint64_t ns);	 /* "1.234 ms"; exact below 1 us */
struct ts_short ts_format_bytes(uint64_t bytes); /* "1.50 GiB", binary units; exact below 1 KiB */
struct ts_short ts_format_share(uint64_t part, uint64_t whole); /* "12.3 %", "-" of nothing */

struct ts_short ts_format_rate(uint64_t bytes, uint64_t ns); /* "12.34 GB/s", 10^9 bytes a second */

/* What stands below a table that does not show all of its rows. */
void ts_print_more(FILE *out, size_t shown, size_t all);

/* Prints text of any content: control characters and bytes that are no UTF-8 become '?'. */
void ts_print_plain(FILE *out, struct ts_str text);

/* Prints a name of any content on one line and at most `width` columns: control characters and bad
 * UTF-8 become '?', a long name loses its middle.  Returns the columns used; an empty name is
 * "(unnamed)". */
int ts_print_name(FILE *out, struct ts_str name, int width);

/* The same for a function: one that is too long loses first what is told twice, `void` before a
 * template and the list of its parameters. */
int ts_print_function(FILE *out, struct ts_str name, int width);

#endif
