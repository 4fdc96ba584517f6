/* meta.tags: of tstrace_open, of TSTRACE_TAGS, and our own. */
#ifndef TSTRACE_CORE_SESSION_TAGS_H
#define TSTRACE_CORE_SESSION_TAGS_H

#include "core/record/line.h"
#include "core/tstrace.h"

/* Keep copies; false when out of memory. */
bool ts_tags_set(const struct tstrace_tag *tags, size_t count);

/* ,"tags":{...} sorted by key.  Of one key's values our own goes first, then the program's. */
void ts_tags_print(struct ts_lines *line);

void ts_tags_child(void);

#endif
