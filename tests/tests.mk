# Tests are found by name: tests/unit/test_*.c (cmocka, one main a file), tests/e2e/NNN-*.sh (and the programs
# they run, tests/e2e/apps). Exit status 77 means skipped.
unit_src := $(wildcard tests/unit/test_*.c)
unit_bin := $(patsubst tests/unit/%.c,$B/unit/%,$(unit_src))
e2e_src  := $(wildcard tests/e2e/[0-9]*.sh)
unit_cuda = $(patsubst tests/unit/%.c,$B/unit/%,$(wildcard tests/unit/test_sim*.c))

# A unit test links every object of the project but the command's main() and the hooks.
unit_obj  = $(filter-out %/cli/main.o,$(call obj,$(sort $(wildcard core/*.c core/*/*.c cupti/*.c))))
$B/unit/%: $B/obj/tests/unit/%.o $(unit_obj)
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) $^ $(tool_libs) -lcmocka -ldl -o $@

-include tests/e2e/apps/apps.mk
-include tests/bench/bench.mk

# What runs under a sanitizer runs many times as long.
ifneq ($(SAN),)
export TEST_TIMEOUT ?= 300
endif

check: all $(unit_bin) apps check-tree check-exports check-coverage check-man ## every test that needs no GPU
	$(Q)scripts/run-tests $B $(unit_bin) $(e2e_src)

check-unit: all $(unit_bin) ## unit tests only
	$(Q)scripts/run-tests $B $(unit_bin)

check-e2e: all apps ## end-to-end tests only
	$(Q)scripts/run-tests $B $(e2e_src)

check-tree: ## layout: who may include what, file and function lengths
	$(Q)scripts/check-tree

check-exports: $B/libtstrace.so ## the library exports exactly the hook tables and the public API
	$(Q)scripts/check-exports $B

check-coverage: $B/libtstrace.so ## every allocation, launch, copy and set of the headers is hooked or listed
	$(Q)scripts/check-coverage $B $(CUDA_INC)

check-man: all ## the man pages name every variable and verb
	$(Q)scripts/check-man $B

check-gpu: all apps ## the end-to-end programs against the real driver, runtime and CUPTI
	$(Q)CUDA_LIB=$(CUDA_LIB) scripts/check-gpu $B

.PHONY: apps check-unit check-e2e check-tree check-exports check-coverage check-man

gpu-kit: all apps ## gather what check-gpu needs on a machine without development packages
	$(Q)CUDA_LIB=$(CUDA_LIB) scripts/check-gpu $B --kit

.PHONY: gpu-kit

# What several tests share.
$(patsubst tests/unit/%.c,$B/unit/%,$(wildcard tests/unit/test_stack*.c)): $B/obj/tests/unit/stack_test.o
recorder_tests := test_writer test_windows test_output test_ring test_arena test_processes test_blocks test_exit test_span test_stats_events \
	$(notdir $(basename $(wildcard tests/unit/test_api*.c)))
$(patsubst %,$B/unit/%,$(recorder_tests)): $B/obj/tests/unit/record_test.o

# A race that no timing finds: the test acts between two looks of the writer.
$B/unit/test_writer: LDBASE += -Wl,--wrap=ts_record_device_started

golden: all ## write the golden trace anew, after a change of the trace that is meant
	$(Q)UPDATE_GOLDEN=1 scripts/run-tests $B tests/e2e/811-golden.sh
	-$(Q)git diff --stat tests/golden

.PHONY: golden
