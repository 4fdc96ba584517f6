/* What preload/ and cupti/ define, for where they are not linked in.
 *
 * No constructor registers it: another library's may call CUDA before any of ours ran.  Weak
 * definitions are alone in their file, since a compiler takes what it sees for what will be. */
#include "core/record/device.h"
#include "core/record/record.h"
#include "core/session/stats.h"
#include "core/session/step.h"

#define TS_WEAK __attribute__((weak))

static const char *no_name(unsigned fn)
{
	(void)fn;
	return "unknown";
}

TS_WEAK const char *(*const ts_fn_name)(unsigned fn) = no_name;
TS_WEAK const struct ts_device_backend *const ts_device = NULL;
TS_WEAK const struct ts_teller *const ts_teller = NULL;
TS_WEAK void *(*ts_driver_function)(const char *symbol) = NULL;
TS_WEAK void (*const ts_step_checkpoint)(struct ts_ring *ring) = NULL;
TS_WEAK int (*const ts_stats_device)(const struct ts_view *view, void *stream,
				     struct ts_stats *stats, char *why, size_t room) = NULL;
