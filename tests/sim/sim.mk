# The simulated device: driver, stand-in runtime (shared 13 and 12, static), stand-in CUPTI.
sim_libs   := $B/sim/libcuda.so.1 $B/sim/libcudart.so.13 $B/sim/libcudart.so.12 $B/sim/libcupti.so.13 $B/sim/libcupti.so.12
sim_static := $B/sim/static/libcudart_static.a

sim: $(sim_libs) $(sim_static) ## build the simulated device only

# Objects of the simulated device see the plain names of cuda.h: every file includes tests/sim/cuda_names.h first.
$B/sim/libcuda.so.1: $(call obj,$(wildcard tests/sim/driver/*.c))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDBASE) -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic $^ -o $@

$B/sim/libcudart.so.13: $(call obj,$(wildcard tests/sim/runtime/*.c)) tests/sim/runtime/libcudart.so.13.map
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDBASE) -shared -Wl,-soname,libcudart.so.13 -Wl,-Bsymbolic -Wl,--version-script=tests/sim/runtime/libcudart.so.13.map $(filter %.o,$^) -o $@

$B/sim/libcudart.so.12: $(call obj,$(wildcard tests/sim/runtime/*.c)) tests/sim/runtime/libcudart.so.12.map
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDBASE) -shared -Wl,-soname,libcudart.so.12 -Wl,-Bsymbolic -Wl,--version-script=tests/sim/runtime/libcudart.so.12.map $(filter %.o,$^) -o $@

$B/sim/static/libcudart_static.a: $(call obj,$(wildcard tests/sim/runtime/*.c))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^

# The stand-in CUPTI: callback ids come from the toolkit's own headers, one row an enumerator.
$B/sim/gen/cbid_%.inc: $(CUPTI_INC)/cupti_%_cbid.h
	@mkdir -p $(@D)
	$(Q)sed -n 's/^ *CUPTI_[A-Z]*_TRACE_CBID_\([_a-z][_A-Za-z0-9]*\) *=.*/SIM_CBID_$*(\1)/p' $< > $@
$B/obj/tests/sim/cupti/names.o: $B/sim/gen/cbid_driver.inc $B/sim/gen/cbid_runtime.inc
$B/obj/tests/sim/cupti/names.o: CUDAFLAGS += -I$B/sim/gen

# NODELETE: its worker thread outlives a dlclose().
$B/sim/libcupti.so.%: $(call obj,$(wildcard tests/sim/cupti/*.c))
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDBASE) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,nodelete $^ -o $@
