/* The files of the traced side as the command finds them, and the environment a traced program
 * gets. */
#ifndef TS_CLI_PRELOAD_H
#define TS_CLI_PRELOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct ts_preload {
	char library[PATH_MAX]; /* libtstrace.so; never with a space or colon in it */
	char sim[PATH_MAX]; /* folder of the simulated device; empty when it was not asked for */
};

/* Finds libtstrace.so beside this executable: in its own folder (build) or in ../lib/tstrace
 * (installed), and, with `sim`, the folder sim/ beside the library.  A path that the loader would
 * split is replaced by a link in a folder that only this user can write.  Returns 0 or -errno after
 * one message to stderr. */
int ts_preload_find(struct ts_preload *preload, bool sim);

/* Sets LD_PRELOAD (what was there stays in front, so that a sanitizer's runtime still comes first)
 * and, for the simulated device, LD_LIBRARY_PATH (ours in front).  Returns 0 or -ENOMEM. */
int ts_preload_set_environment(const struct ts_preload *preload);

#endif
