# `make bench`: what tstrace costs, beside its peers and the floor of this machine, in one run.
bench_probes := $(addprefix $B/bench/,bench probe_event probe_span probe_off probe_stack probe_throw probe_idle \
	libfloor.so libcudart.so.13 libthrow.so)

bench: ## measure against LTTng-UST, Tracy (TRACY=its sources), heaptrack and the floor; says met or not met
	$(Q)scripts/setup --bench
	$(Q)$(MAKE) --no-print-directory B=$B bench-run

# The peer is built only where its headers are, which the set-up above sees to.
ifneq ($(filter bench-run,$(MAKECMDGOALS)),)
ifeq ($(shell echo '\#include <lttng/tracepoint.h>' | $(CC) -E -xc - >/dev/null 2>&1 && echo yes),yes)
bench_probes += $B/bench/libpeer_lttng.so
endif
endif

# Tracy is in no Debian package: TRACY is a folder with its sources, and its capture is built there or installed.
TRACY ?=
export TRACY
ifneq ($(and $(TRACY),$(wildcard $(TRACY)/public/TracyClient.cpp)),)
bench_probes += $B/bench/libpeer_tracy.so
endif

bench-run: $B/libtstrace.so $(bench_probes)
	$(Q)tests/bench/run $B

# A stack of thirty frames must have thirty: no inlining or tail calls in the tower.
$B/obj/tests/bench/probe_stack.o: CUDAFLAGS += -fno-optimize-sibling-calls

$B/bench/%: $B/obj/tests/bench/%.o | $B/bench/libcudart.so.13
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) $< $(bench_lib) -Wl,-rpath-link,$B/bench -ldl -o $@
$B/bench/probe_event $B/bench/probe_off $B/bench/probe_stack $B/bench/probe_throw: bench_lib := $B/bench/libcudart.so.13

$B/bench/libfloor.so: $B/obj/tests/bench/floor.o
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,$(@F) $^ -ldl -o $@
$B/bench/libcudart.so.13: $B/obj/tests/bench/fake_cudart.o $B/bench/libcuda.so.1 tests/bench/fake_cudart.map
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,$(@F) -Wl,--version-script=tests/bench/fake_cudart.map $< \
		-Wl,--no-as-needed $B/bench/libcuda.so.1 -o $@
$B/bench/libcuda.so.1: $B/obj/tests/bench/fake_cuda.o
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,$(@F) $^ -o $@
$B/bench/libpeer_lttng.so: $B/obj/tests/bench/peer_lttng.o
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,$(@F) $^ -llttng-ust -ldl -o $@
$B/bench/libthrow.so: tests/bench/throw.cc
	@mkdir -p $(@D)
	$(call q,CXX,$@)$(CXX) -std=c++17 -O2 -Wall -Wextra -fPIC -fvisibility=hidden -shared $< -o $@

# Without what Tracy would do beside zones: it needs rights, and is not what is compared.
$B/bench/libpeer_tracy.so: tests/bench/peer_tracy.cc
	@mkdir -p $(@D)
	$(call q,CXX,$@)$(CXX) -std=c++17 -O2 -fPIC -fvisibility=hidden -pthread -DTRACY_ENABLE -DTRACY_ONLY_LOCALHOST \
		-DTRACY_NO_BROADCAST -DTRACY_NO_SYSTEM_TRACING -DTRACY_NO_CRASH_HANDLER -isystem $(TRACY)/public -shared \
		$< $(TRACY)/public/TracyClient.cpp -ldl -o $@

.PHONY: bench-run
