/* Fork steps of the name store; for record.c only. */
#ifndef TSTRACE_CORE_RECORD_ARENA_LIFE_H
#define TSTRACE_CORE_RECORD_ARENA_LIFE_H

void ts_arena_prefork(void);
void ts_arena_parent(void);
void ts_arena_child(void);

#endif
