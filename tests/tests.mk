# Tests are found by name: tests/unit/test_*.c (cmocka, one main a file), tests/e2e/NNN-*.sh, programs in tests/e2e/apps.
unit_src := $(wildcard tests/unit/test_*.c)
unit_bin := $(patsubst tests/unit/%.c,$B/unit/%,$(unit_src))

# A unit test links every object of the project but main(), the hooks and the simulated device.
unit_obj  = $(filter-out %/main.o,$(call obj,$(sort $(wildcard core/*.c core/*/*.c cupti/*.c))))
$B/unit/%: $B/obj/tests/unit/%.o $(unit_obj)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDBASE) $^ $(tool_libs) -lcmocka -ldl -o $@

check-unit: $(unit_bin) ## unit tests only
	$(Q)for t in $(unit_bin); do $$t || exit 1; done
