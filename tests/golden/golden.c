/* Says the same in every run: each call of tstrace.h that writes an event, and some calls of CUDA
 * between them.  Its trace, normalised, is golden.jsonl. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TSTRACE_DYNAMIC
#include "core/tstrace.h"

int cudaMalloc(void **p, size_t bytes), cudaFree(void *p), cudaDeviceSynchronize(void);
int cudaMemset(void *p, int value, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
#define HOST_TO_DEVICE 1

#define MUST(call)                                                                                 \
	do {                                                                                       \
		int error_ = (call);                                                               \
		if (error_) {                                                                      \
			fprintf(stderr, "line %d: %s: %d %s\n", __LINE__, #call, error_,           \
				tstrace_error());                                                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const uint64_t sizes[] = {2, 3};
static const struct tstrace_shape shape = {sizes, 2};
static const float values[] = {1, -2, 3, NAN, 5, INFINITY};

static void open_session(void)
{
	static const char *const labels[] = {"forward", "loader"};
	static const struct tstrace_gradient_entry entries[] = {
	    {"net", "w", "dense"}, {"net", "b", "dense"}, {"net", "f", "frozen"}};
	static const struct tstrace_gradient_family families[] = {{"dense", TSTRACE_ACTIVE, 1},
								  {"frozen", TSTRACE_INACTIVE, 0}};
	static const struct tstrace_gradient_contract gradients = {
	    .expected = entries, .expected_count = 3, .families = families, .family_count = 2};
	static const struct tstrace_contract contract = {
	    .scope = TSTRACE_PROFILED_WORK,
	    .operations = TSTRACE_PARTIAL,
	    .tensors = TSTRACE_PARTIAL,
	    .gradients = TSTRACE_COMPLETE,
	    .logical_memory = TSTRACE_PARTIAL,
	    .required_labels = labels,
	    .required_count = 2,
	    .gpu_labels = labels,
	    .gpu_count = 1,
	    .cpu_labels = labels + 1,
	    .cpu_count = 1,
	    .gradient_contract = &gradients,
	};
	static const struct tstrace_identity identity = {
	    .workload_id = "w",
	    .model_id = "m",
	    .config_id = "c",
	    .data_id = "d",
	    .seed_policy = "none",
	    .physical_batch = 4,
	    .accumulation_steps = 1,
	    .precision = "f32",
	    .device_state = "simulated",
	};
	static const struct tstrace_tag tags[] = {{"suite", "golden"}};
	struct tstrace_run run = tstrace_run_of(TSTRACE_TRAIN, "golden::update", 3, "cuda:0");

	run.contract = &contract;
	run.identity = &identity;
	run.tags = tags;
	run.tag_count = 1;
	MUST(tstrace_open(NULL, getenv("GOLDEN_TRACE"), &run));
}

static void forward(void *block)
{
	static const char *const inputs[] = {"x", "w"};
	TSTRACE_STEP_SCOPE("forward", TSTRACE_FORWARD);

	MUST(cudaMemcpy(block, values, sizeof(values), HOST_TO_DEVICE));
	{
		TSTRACE_SCOPE("gemm \"quoted\" \xff\x01");
		MUST(tstrace_record_op(NULL, 0,
				       &(struct tstrace_op){.name = "gemm",
							    .inputs = inputs,
							    .input_count = 2,
							    .output = "y",
							    .shape = shape,
							    .dtype = "f32",
							    .input_dense_bytes = 48}));
	}
	MUST(tstrace_record_tensor(NULL, 0,
				   &(struct tstrace_tensor){.tensor_id = "y",
							    .label = "hidden",
							    .shape = shape,
							    .dtype = "bf16",
							    .requires_grad = true,
							    .category = TSTRACE_ACTIVATION}));
	MUST(tstrace_record_data_edge(NULL, "x", "y"));
	MUST(tstrace_record_tensor_stats(
	    NULL, 0, "hidden",
	    &(struct tstrace_data){.data = values, .dtype = TSTRACE_F32, .shape = shape}));
	MUST(tstrace_record_scalar(NULL, 0, "loss", 0.25));
	MUST(tstrace_record_scalar(NULL, 0, "scale", -INFINITY));
}

static void backward(void)
{
	struct tstrace_memory block = {.storage_id = "pool#1",
				       .tensor_id = "grad.w",
				       .op_name = "backward",
				       .bytes = 24,
				       .shape = shape,
				       .dtype = "f32",
				       .category = TSTRACE_GRADIENT};
	TSTRACE_STEP_SCOPE("backward", TSTRACE_BACKWARD);

	MUST(tstrace_record_memory_alloc(NULL, 0, &block));
	block.tensor_id = "grad.w.view";
	MUST(tstrace_record_memory_alloc(NULL, 0, &block));
	MUST(tstrace_record_memory_free(NULL, 0, &block));
	MUST(tstrace_record_gradient(NULL, "net", "w", TSTRACE_PRESENT, 0.5));
	MUST(tstrace_record_gradient(NULL, "net", "b", TSTRACE_ZERO, 0));
	MUST(tstrace_record_gradient(NULL, "net", "f", TSTRACE_MISSING, NAN));
}

static void aside(void)
{
	static const uint64_t at = 20;
	tstrace_span done;

	while (tstrace_elapsed_ns(NULL) < 100)
		;
	MUST(tstrace_record_completed_host_span(NULL, "loader", TSTRACE_FUNCTION, 10, 70, &done));
	MUST(tstrace_record_call_edge(NULL, TSTRACE_ROOT, done, 70));
	MUST(tstrace_record_op(
	    NULL, done,
	    &(struct tstrace_op){
		.name = "read", .timestamp_ns = 30, .duration_ns = 40, .device = "cpu"}));
	MUST(tstrace_record_device_memory(
	    NULL, &(struct tstrace_device_memory){.device = "cuda:7",
						  .timestamp_ns = &at,
						  .used_bytes = 5,
						  .free_bytes = 6,
						  .reserved_bytes = TSTRACE_NOT_KNOWN,
						  .capacity_bytes = 11}));
	MUST(tstrace_record_device_interval(
	    NULL, done,
	    &(struct tstrace_device_interval){"cuda:7", "s", "own-clock", "own", 1000, 50}));
}

int main(void)
{
	const char *path = NULL;
	tstrace_span region;
	void *block;

	open_session();
	aside();
	region = tstrace_begin_measurement(NULL, "update");
	MUST(tstrace_step(NULL, 3));
	MUST(cudaMalloc(&block, 4096));
	forward(block);
	backward();
	MUST(tstrace_step_end(NULL));
	{
		TSTRACE_STEP_SCOPE("optimizer", TSTRACE_OPTIMIZER);
		MUST(cudaMemset(block, 0, 4096));
		MUST(cudaFree(block));
	}
	/* What is not recorded. */
	MUST(tstrace_pause(NULL));
	TSTRACE_SCOPE("paused");
	MUST(tstrace_resume(NULL));
	MUST(cudaDeviceSynchronize());
	MUST(tstrace_end_span(NULL, region));
	MUST(tstrace_finish(NULL, &path));
	return path ? 0 : 77;
}
