/* The wrappers of the driver's functions: memory, contexts, streams, events, graphs, look-ups. */
#include "preload/wrap.h"

#include "preload/hooks_drv.def"
