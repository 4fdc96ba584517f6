/* Walks over the loaded objects that no fork can cut in half.
 *
 * dl_iterate_phdr holds a lock of the loader, and glibc's fork does not give it back in the child:
 * a thread of ours that is inside while another thread forks would leave the child unable to load,
 * look up or walk anything, for ever.  So a fork waits for our walks, and walks wait for the
 * fork. */
#ifndef TSTRACE_CORE_LOADER_H
#define TSTRACE_CORE_LOADER_H

#include <link.h>
#include <stdbool.h>

/* dl_iterate_phdr.  Any thread; allocates nothing; waits at most 100 ms for a fork under way. */
int ts_loader_walk(int (*visit)(struct dl_phdr_info *info, size_t bytes, void *data), void *data);

/* Fork steps, the last before and the first after; a walk is waited for at most 100 ms. */
void ts_loader_before_fork(void);
void ts_loader_after_fork(bool in_child);

#endif
