/* What programs are linked with: the public calls and nothing else, under the library's name.  The
 * library itself also has the names of CUDA's functions, and a linker would take those from it:
 * with --as-needed the program would then not be linked with CUDA at all.  Never loaded. */
#include "core/tstrace.h"

#define LINK(type, name, params, args, none)                                                       \
	__attribute__((visibility("default"))) type tstrace_##name params                          \
	{                                                                                          \
		return none;                                                                       \
	}
#pragma GCC diagnostic ignored "-Wunused-parameter"
TSTRACE_CALLS(LINK)

__attribute__((visibility("default"))) const struct tstrace_calls *tstrace_find_calls(void)
{
	return NULL;
}
