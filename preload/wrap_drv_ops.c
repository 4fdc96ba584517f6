/* The wrappers of the driver's functions: launches, copies, sets. */
#include "preload/wrap.h"

#include "preload/hooks_drv_ops.def"
