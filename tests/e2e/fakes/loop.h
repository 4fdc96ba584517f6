/* A training loop of three iterations that uses tstrace.h and CUDA; C11 and C++17. */
#include "core/tstrace.h"

#include <stdio.h>

static int train(void)
{
	void *block;

	for (uint64_t n = 5; n < 8; n++) {
		tstrace_step(NULL, n);
		{
			TSTRACE_STEP_SCOPE("forward", TSTRACE_FORWARD);
			if (cudaMalloc(&block, 4096))
				return 1;
			tstrace_record_scalar(NULL, 0, "loss", 1.0 / (double)n);
		}
		{
			TSTRACE_STEP_SCOPE("backward", TSTRACE_BACKWARD);
			TSTRACE_SCOPE("inner");
			cudaFree(block);
		}
	}
	tstrace_step_end(NULL);
	printf("trained\n");
	return 0;
}
