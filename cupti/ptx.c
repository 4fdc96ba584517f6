/* The text of the kernels, as the build made it; see reduce.c. */
#include "core/session/reduce_device.h"

__asm__(".pushsection .rodata\n"
	".globl ts_reduce_ptx\n"
	".hidden ts_reduce_ptx\n"
	".type ts_reduce_ptx, %object\n"
	"ts_reduce_ptx:\n"
	".incbin \"" PTX_FILE "\"\n"
	".byte 0\n"
	".size ts_reduce_ptx, . - ts_reduce_ptx\n"
	".popsection\n");
