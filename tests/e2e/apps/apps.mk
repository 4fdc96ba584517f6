# The programs that the end-to-end tests trace: they know nothing of tstrace and run on a real driver as well.
#   X.cu    X-shared (shared runtime), X-static (the simulated device's archive), X-gpustatic (the toolkit's
#           archive: only for a machine with a GPU); for the names in apps_ptds also X-ptds, the shared one with
#           per-thread default streams
#   X.c     X-shared
#   plugin  plugin.so, loaded by plugin_host and mixed from the folder they are in
# Without nvcc only the C programs are built.
apps_dir  := tests/e2e/apps
apps_ptds := basic copies forms graphs kinds managed pools streams threads
apps_cu   := $(filter-out plugin,$(patsubst $(apps_dir)/%.cu,%,$(wildcard $(apps_dir)/*.cu)))
apps_c    := $(patsubst $(apps_dir)/%.c,%,$(wildcard $(apps_dir)/*.c))
apps_bin  := $(apps_c:%=$B/apps/%-shared) \
	     $(if $(NVCC),$B/apps/demo $B/apps/plugin.so $(foreach v,shared static gpustatic,$(apps_cu:%=$B/apps/%-$v)) \
	     $(apps_ptds:%=$B/apps/%-ptds))

apps: $(apps_bin) ## build the programs that the end-to-end tests trace

# nvcc splits an -Xcompiler argument at commas: one option a sanitizer.
apps_san  := $(foreach s,$(subst $(comma), ,$(SAN)),-Xcompiler=-fsanitize=$s)
apps_nvcc  = $(NVCC) -ccbin $(CXX) -std=c++17 -arch=sm_75 -Wno-deprecated-gpu-targets -O1 -g \
	     -Xcompiler=-Wall,-Wextra,-Wno-unused-parameter,-fPIC $(apps_san)

$B/obj/apps/%.o: $(apps_dir)/%.cu $(apps_dir)/check.h $(apps_dir)/apps.mk
	@mkdir -p $(@D)
	$(call q,NVCC,$<)$(apps_nvcc) -c $< -o $@

$B/obj/apps/%.ptds.o: $(apps_dir)/%.cu $(apps_dir)/check.h $(apps_dir)/apps.mk
	@mkdir -p $(@D)
	$(call q,NVCC,$<)$(apps_nvcc) --default-stream per-thread -c $< -o $@

$(apps_cu:%=$B/apps/%-shared): $B/apps/%-shared: $B/obj/apps/%.o
	@mkdir -p $(@D)
	$(call q,NVCC,$@)$(apps_nvcc) -cudart shared $< -o $@ -lpthread -ldl

$(apps_cu:%=$B/apps/%-static): $B/apps/%-static: $B/obj/apps/%.o $(sim_static)
	@mkdir -p $(@D)
	$(call q,NVCC,$@)$(apps_nvcc) -cudart static -L$B/sim/static $< -o $@ -lpthread -ldl

$(apps_cu:%=$B/apps/%-gpustatic): $B/apps/%-gpustatic: $B/obj/apps/%.o
	@mkdir -p $(@D)
	$(call q,NVCC,$@)$(apps_nvcc) -cudart static $< -o $@ -lpthread -ldl

$(apps_ptds:%=$B/apps/%-ptds): $B/apps/%-ptds: $B/obj/apps/%.ptds.o
	@mkdir -p $(@D)
	$(call q,NVCC,$@)$(apps_nvcc) -cudart shared $< -o $@ -lpthread -ldl

$B/apps/plugin.so: $B/obj/apps/plugin.o
	@mkdir -p $(@D)
	$(call q,NVCC,$@)$(apps_nvcc) -shared -cudart shared $< -o $@

$B/apps/demo: $B/apps/demo-shared
	$(call q,CP,$@)cp $< $@

# The C programs: one is linked with the driver, the others find what they need at run time.
$(apps_c:%=$B/apps/%-shared): $B/apps/%-shared: $(apps_dir)/%.c $B/sim/libcuda.so.1
	@mkdir -p $(@D)
	$(call q,CC,$@)$(CC) -std=gnu11 -O1 -g $(WARN) $(SANFLAGS) $(CUDAFLAGS) $< -o $@ $(if $(filter driver,$*),-L$B/sim -l:libcuda.so.1) -ldl

.PHONY: apps
