/* The end of a program whose initial thread left by pthread_exit.
 *
 * glibc ends a process by exit(0) when its last thread ends.  Our threads are threads to glibc: it
 * would wait for them for ever, and since they block all signals the process would be deaf as well.
 * So when the initial thread is gone the writer looks whether only tstrace's threads are left, and
 * then a thread of ours calls exit(0), as the program's last one would have. */
#ifndef TSTRACE_CORE_RECORD_ALONE_H
#define TSTRACE_CORE_RECORD_ALONE_H

#include "core/base.h"

/* Threads of tstrace have these names, and so have those that libraries start on our behalf. */
#define TS_THREAD_WRITER "tstrace"
#define TS_THREAD_FLUSH "tstrace-cupti"
#define TS_THREAD_READ "tstrace-read"
#define TS_THREAD_EVENT "tstrace-event"
#define TS_THREAD_LIBRARY "tstrace-lib"
#define TS_THREAD_DESCRIBE "tstrace-names"
#define TS_THREAD_EXIT "tstrace-exit"
#define TS_THREAD_WINDOW "tstrace-window"

/* Start a detached thread with all signals blocked, named `name`, one of those.  0 or -errno. */
int ts_helper_start(const char *name, void *(*run)(void *));

/* The calling thread is the initial one, and its end will be told by ts_alone_main_ends. */
void ts_alone_main_is_known(void);
void ts_alone_main_ends(void);

/* The writer's regular look.  One comparison unless the initial thread has ended. */
void ts_alone_look(void);

/* The writer has nothing else to do: looks for as long as the process lives. */
_Noreturn void ts_alone_watch(void);

/* In the child of a fork: its initial thread is the one that forked. */
void ts_alone_child(void);

#endif
