/* Every other function of the runtime exists, fails with cudaErrorNotSupported and is weak, so that
 * implementing it is all that takes it off this list.  The archive is one object for the same
 * reason: a linker that searches members would take a weak definition where it finds one first. */
#include "tests/sim/runtime/runtime.h"

#undef RT_STUB
#define RT_STUB(name)                                                                          \
	RT_EXPORT __attribute__((weak)) int stub_##name(void) __asm__(#name);                  \
	int stub_##name(void)                                                                  \
	{                                                                                      \
		return rt_unsupported(#name);                                                  \
	}
#include "tests/sim/runtime/unsupported.def"
