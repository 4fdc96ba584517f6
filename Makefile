# tstrace: see README.md.  `make help` lists the targets.
VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
CXX     ?= c++
SAN     ?=
comma   := ,
# One build folder per variant: SAN=address,undefined -> build-address-undefined; CC=clang -> its own too.
B       := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(findstring clang,$(CC)),-clang)
# A step of the build is one short line; V=1 shows the commands instead, -s nothing.
Q       := $(if $(V),,@)
silent  := $(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS))))
q        = $(if $(V),,@$(if $(silent),,printf '  %-5s %s\n' $1 $2; ))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

# --- what is there -----------------------------------------------------------
# Goals that build need the packages and the CUDA headers; help and clean do not.
passive := help clean uninstall
ifneq ($(filter-out $(passive),$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell scripts/setup --check >/dev/null 2>&1 || scripts/setup >&2 || echo failed),)
$(error set-up failed, see the message above)
endif
cuda := $(shell scripts/find-cuda | tr '\n' ';' | tr ' ' '@')
ifeq ($(cuda),)
$(error no CUDA headers, see the message above)
endif
$(foreach line,$(subst ;, ,$(cuda)),$(eval $(subst @, ,$(line))))
endif

SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -DTS_SANITIZED)
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes
OPT      := $(if $(SAN),-O1,-O2)
CFLAGS   ?= -g
BASE      = -std=gnu11 $(OPT) $(WARN) -fPIC -fvisibility=hidden -fno-semantic-interposition -ffunction-sections \
	    -pthread -I. -D_GNU_SOURCE -DTS_VERSION='"$(VERSION)"' $(SANFLAGS)
CUDAFLAGS = -isystem $(CUDA_INC) -isystem $(CUPTI_INC)
LDBASE   := -pthread $(SANFLAGS)

lib_src  := $(wildcard core/*.c core/record/*.c core/session/*.c preload/*.c cupti/*.c)
tool_src := $(wildcard core/*.c core/trace/*.c core/cli/*.c core/out/*.c)
obj       = $(patsubst %.c,$B/obj/%.o,$(patsubst %.S,$B/obj/%.o,$1))
tool_libs := -ljansson -ldw -lelf -lzstd -lm

all: $B/libtstrace.so $B/link/libtstrace.so $B/tstrace sim ## build the library, the command and the simulated device

$B/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call q,CC,$<)$(CC) $(BASE) $(CUDAFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# The sanitizers' runtimes call dlsym before they are ready to check anything: what runs then is not instrumented.
early := $(patsubst %,$B/obj/%.o,preload/dlsym preload/elf preload/real preload/fn preload/nvtx_env core/base core/loader)
$(early): SANFLAGS := $(if $(SAN),-DTS_SANITIZED)

# Only libc: libunwind, CUPTI and CUDA are opened at run time.  NODELETE: hooks may be called until the very end.
# What -ltstrace finds; the name in it is that of the library.
$B/link/libtstrace.so: $B/obj/preload/link/link.o preload/tstrace.map
	@mkdir -p $(@D)
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,libtstrace.so -Wl,--version-script=preload/tstrace.map $< -o $@

$B/libtstrace.so: $(call obj,$(lib_src)) preload/tstrace.map
	$(call q,LD,$@)$(CC) $(LDBASE) -shared -Wl,-soname,libtstrace.so -Wl,-z,nodelete -Wl,-z,now $(if $(SAN),,-Wl$(comma)--no-undefined) \
		-Wl,--gc-sections -Wl,--version-script=preload/tstrace.map $(call obj,$(lib_src)) -o $@

# A square root is an instruction, without errno, and so without libm.
$B/obj/core/session/view.o: CUDAFLAGS += -fno-math-errno

# The kernels as PTX for every device and driver that can have it: the oldest architecture of the toolkit, and the
# instruction set of CUDA 12.0, whose driver is the first that loads it.  Without nvcc: none, see cupti/reduce.c.
$B/gen/reduce.ptx: core/session/reduce.cu core/session/reduce.h core/session/reduce_device.h core/tstrace.h Makefile
	@mkdir -p $(@D)
	$(call q,GEN,$@)$(if $(NVCC),arch=$$($(NVCC) --list-gpu-arch | sort -t_ -k2n | head -n1) && \
		$(NVCC) -ccbin $(CXX) -std=c++17 -O3 -arch=$$arch -rdc=true -Wno-deprecated-gpu-targets -I. -ptx $< -o $@ && \
		sed -i -e '/^\/\//d' -e 's/^\.version \(8\.[1-9]\|9\|[1-9][0-9]\).*/.version 8.0/' $@,: > $@)
$B/obj/cupti/ptx.o: $B/gen/reduce.ptx
$B/obj/cupti/ptx.o: CUDAFLAGS += -DPTX_FILE='"$B/gen/reduce.ptx"'

$B/tstrace: $(call obj,$(tool_src))
	$(call q,LD,$@)$(CC) $(LDBASE) $^ $(tool_libs) -o $@

include tests/sim/sim.mk
include tests/tests.mk

demo: all $B/apps/demo ## trace a real nvcc-built program and print what it did with the GPU
	$(Q)scripts/demo $B

install: all ## install library, command, header, pkg-config file, man pages and simulated device
	install -D -m755 $B/libtstrace.so $(DESTDIR)$(PREFIX)/lib/tstrace/libtstrace.so
	ln -sf tstrace/libtstrace.so $(DESTDIR)$(PREFIX)/lib/libtstrace.so
	install -D -m644 $B/link/libtstrace.so $(DESTDIR)$(PREFIX)/lib/tstrace/link/libtstrace.so
	install -D -m644 scripts/tstrace.py $(DESTDIR)$(PREFIX)/share/tstrace/tstrace.py
	install -D -m755 $B/tstrace $(DESTDIR)$(PREFIX)/bin/tstrace
	install -D -m644 core/tstrace.h $(DESTDIR)$(PREFIX)/include/tstrace.h
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/lib/tstrace/sim/static
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' scripts/tstrace.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/tstrace.pc
	for f in $(sim_libs); do install -m755 $$f $(DESTDIR)$(PREFIX)/lib/tstrace/sim/; done
	for f in $(sim_static); do install -m644 $$f $(DESTDIR)$(PREFIX)/lib/tstrace/sim/static/; done
	for f in man/*.[0-9]; do install -D -m644 $$f $(DESTDIR)$(PREFIX)/share/man/man$${f##*.}/$${f##*/}; done

uninstall: ## remove what install put there
	rm -rf $(DESTDIR)$(PREFIX)/lib/tstrace $(DESTDIR)$(PREFIX)/share/tstrace $(DESTDIR)$(PREFIX)/lib/libtstrace.so $(DESTDIR)$(PREFIX)/bin/tstrace \
		$(DESTDIR)$(PREFIX)/include/tstrace.h $(DESTDIR)$(PREFIX)/lib/pkgconfig/tstrace.pc
	for f in man/*.[0-9]; do rm -f $(DESTDIR)$(PREFIX)/share/man/man$${f##*.}/$${f##*/}; done

clean: ## remove every build folder
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14
	@echo 'Variables: PREFIX, DESTDIR, CC, CFLAGS, CUDA_HOME, SAN=address,undefined or SAN=thread, V=1 (show commands in full)'

.PHONY: all demo install uninstall clean help sim check check-gpu bench
-include $(shell find $B -name '*.d' 2>/dev/null)
