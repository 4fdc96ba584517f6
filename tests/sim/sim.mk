# The simulated device: driver, stand-in runtime (shared 13 and 12, static), stand-in CUPTI.
sim_libs   := $B/sim/libcuda.so.1 $B/sim/libcudart.so.13 $B/sim/libcudart.so.12 $B/sim/libcupti.so.13 $B/sim/libcupti.so.12
sim_static := $B/sim/static/libcudart_static.a

sim: $(sim_libs) $(sim_static) ## build the simulated device only

# The driver: its exported functions are generated from the installed headers, see driver/generate.
drv_gen := $B/gen/driver
drv_obj := $(call obj,$(wildcard tests/sim/driver/*.c)) $(drv_gen)/exports.o
$(drv_obj): CUDAFLAGS += -I$(drv_gen) -Itests/sim/driver -Wno-deprecated-declarations -fno-strict-aliasing

$(drv_gen)/exports.c: tests/sim/driver/generate tests/sim/driver/generate.awk
	$(call q,GEN,$@)tests/sim/driver/generate '$(CC)' $(CUDA_INC) $(CUDA_LIB) $(@D)
$(call obj,$(wildcard tests/sim/driver/*.c)): | $(drv_gen)/exports.c
$(drv_gen)/exports.o: $(drv_gen)/exports.c tests/sim/driver/sim.h
	$(call q,CC,$<)$(CC) $(BASE) $(CUDAFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# NODELETE: a worker thread may still be running one of its functions when the program closes it.
$B/sim/libcuda.so.1: $(drv_obj)
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,nodelete $^ -o $@

# The runtime: what CUDA 12 and 13 share, and a folder for what differs.  The archive is the one of 13.
rt_obj13 := $(call obj,$(wildcard tests/sim/runtime/*.c tests/sim/runtime/v13/*.c))
rt_obj12 := $(call obj,$(wildcard tests/sim/runtime/*.c tests/sim/runtime/v12/*.c))

$B/sim/libcudart.so.13: $(rt_obj13)
$B/sim/libcudart.so.12: $(rt_obj12)
$B/sim/libcudart.so.%: tests/sim/runtime/libcudart.so.%.map
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,--version-script=$< $(filter %.o,$^) -o $@

# One object in which only the API is global, and that hidden: a program that links it exports none of it.
# (The visibilities of one symbol merge to the strictest: a list of .hidden lines does it.)
$B/sim/static/libcudart_static.a: $(rt_obj13)
	@mkdir -p $(@D)
	$(call q,AR,$@)rm -f $@ && ld -r -o $B/sim/static/all.o $^ && objcopy --localize-hidden $B/sim/static/all.o && \
		nm --defined-only $B/sim/static/all.o | sed -n -e 's/^.* [TW] \(_*cuda.*\)/.globl \1\n.hidden \1/p' -e '$$a .section .note.GNU-stack,"",@progbits' | \
		$(CC) -x assembler -c -o $B/sim/static/hide.o - && \
		ld -r -o $B/sim/static/cudart.o $B/sim/static/all.o $B/sim/static/hide.o && ar rcs $@ $B/sim/static/cudart.o

# The stand-in CUPTI: callback ids come from the toolkit's own headers, one row an enumerator.
$B/sim/gen/cbid_%.inc: $(CUPTI_INC)/cupti_%_cbid.h
	@mkdir -p $(@D)
	$(call q,GEN,$@)sed -n 's/^ *CUPTI_[A-Z]*_TRACE_CBID_\([_a-z][_A-Za-z0-9]*\) *=.*/SIM_CBID_$*(\1)/p' $< > $@
$B/obj/tests/sim/cupti/names.o: $B/sim/gen/cbid_driver.inc $B/sim/gen/cbid_runtime.inc
$B/obj/tests/sim/cupti/names.o: CUDAFLAGS += -I$B/sim/gen

# NODELETE: its worker thread outlives a dlclose().
$B/sim/libcupti.so.%: $(call obj,$(wildcard tests/sim/cupti/*.c))
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,nodelete $^ -o $@

# Its unit tests drive it through a fake driver.
simcupti_tests := $(patsubst tests/unit/%.c,$B/unit/%,$(wildcard tests/unit/test_simcupti*.c))
$(simcupti_tests): $B/obj/tests/unit/simcupti_client.o | $B/unit/fake/libcuda.so.1 $B/sim/libcupti.so.13 $B/sim/libcupti.so.12 $B/sim/libcuda.so.1
$B/unit/fake/libcuda.so.1: $B/obj/tests/unit/fake_libcuda.o
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,libcuda.so.1 $^ -o $@

# Unit tests of the simulated driver open it beside themselves.
$(patsubst tests/unit/%.c,$B/unit/%,$(wildcard tests/unit/test_simdrv_*.c)): | $B/sim/libcuda.so.1
$B/obj/tests/unit/test_simdrv_names.o: CUDAFLAGS += -DCUDA_H='"$(CUDA_INC)/cuda.h"'
$B/obj/tests/unit/test_simdrv_runtime.o: CUDAFLAGS += -DCUDA_RT_H='"$(CUDA_INC)/cuda_runtime_api.h"'
$B/unit/test_simdrv_runtime: | $B/sim/libcudart.so.13
