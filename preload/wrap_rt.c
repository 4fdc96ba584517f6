/* The wrappers of the runtime's functions. */
#include "preload/wrap.h"

#include "preload/hooks_rt.def"
