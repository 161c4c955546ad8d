# SPDX-License-Identifier: Apache-2.0
#
# Builds and tests cordon. `make help` lists what there is.
#
# BUILD names the folder for everything that is made, so that two builds can live side by side.

VERSION  ?= 0.1.0
# x86_64 or arm64: built here for the other, unless this is the other.
HOST     := $(subst aarch64,arm64,$(shell uname -m))
ARCH     ?= $(HOST)
BUILD    ?= $(if $(filter $(ARCH),$(HOST)),build,build-$(ARCH))
# In the tree, unless it has none and BUILD is elsewhere: the tree may be read-only then.
# Expanded once: CORDON_KERNELS is set from it below.
KERNELS  := $(or $(KERNELS),$(if $(wildcard build/kernels/*/version),build/kernels),$(CORDON_KERNELS),$(if $(filter /%,$(BUILD)),$(BUILD),build)/kernels)
PREFIX   ?= /usr/local
DESTDIR  ?=
MINUTES  ?= 10
KERNEL   ?= 6.12
PART     ?= normal launch
ifneq ($(words $(BUILD) $(KERNELS)),2)
$(error cannot build in "$(BUILD)" with kernels in "$(KERNELS)": make handles no names with spaces there. The path of the tree may have some; \
	give BUILD and KERNELS relative to it)
endif
# A word for the shell. The path of the tree may hold spaces, so that no absolute path is used without it.
quote     = '$(subst ','\'',$(1))'
absolute  = $(call quote,$(abspath $(1)))

# Once: it is exported, and what is exported is expanded for each command.
JOBS     := $(or $(JOBS),$(shell nproc))

ifeq ($(origin CC),default)
CC       := clang-19
endif
BPF_CC   ?= clang-19
# What another machine's programs are made of: its packages, unpacked.
FOREIGN  := $(filter-out $(HOST),$(ARCH))
ROOT     := $(KERNELS)/$(ARCH)/root
TRIPLET  := $(if $(filter arm64,$(ARCH)),aarch64,x86_64)-linux-gnu
ifneq ($(FOREIGN),)
override CC += --target=$(TRIPLET) --sysroot=$(call absolute,$(ROOT)) -fuse-ld=lld-19 -Wno-unused-command-line-argument
endif
# Where the kernels of that architecture are.
SERIES   := $(KERNELS)/$(if $(filter arm64,$(ARCH)),arm64/)
# Sanitizers and libFuzzer come with clang, whatever builds the program itself.
SAN_CC   ?= clang-19
BPFTOOL  ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
AR       := ar

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help test-arm64 packages packages-build packages-unit packages-vm packages-wheel packages-test packages-test-all kernels kernels-update executors containers frameworks clickhouse obeying everyday sandboxes \
	unit corpus fuzz fuzzers helpers programs lint tidy always format \
	unit-compiler unit-programs coverage mutants check test test-all test-unit test-vm demo fleet-demo bench bench-record compare soak wheel install uninstall clean distclean

# V=1 shows the commands themselves.
Q := $(if $(V),,@)

ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=$(JOBS)
endif
MAKEFLAGS += --no-builtin-rules --no-print-directory

FETCHING := packages packages-% kernels kernels-update executors containers frameworks clickhouse obeying everyday sandboxes
# yes: install what is missing; ask: after consent; no: only list it. These goals ask on a terminal, and else install; the others list.
ifndef SETUP
SETUP    := $(if $(filter demo fleet-demo test test-all compare $(FETCHING),$(MAKECMDGOALS)),$(shell [ -t 0 ] && echo ask || echo yes),no)
endif

export SETUP VERSION BUILD MINUTES JOBS
export CORDON_KERNELS := $(abspath $(KERNELS))

help:
	@echo 'make               build/cordon; what the build lacks is listed (SETUP=yes: and installed, as demo, test and packages do)'
	@echo 'make demo          install what is missing, build, and show cordon at work: two minutes'
	@echo 'make fleet-demo    the same with three hosts, and what their operator learns'
	@echo 'make test          what every commit has to pass, in ten minutes: CI runs it'
	@echo 'make test-all      every test on all kernels, in hours'
	@echo 'make check         before a commit: lint, unit tests, and in one VM what the change touches'
	@echo 'make test-unit     the unit tests, with ASan and UBSan           (UNIT=daemon: of one folder)'
	@echo 'make test-vm       parts of the tests of what enforces, in a VM  (KERNEL=$(KERNEL) PART="$(PART)"; SAN=yes: with ASan and UBSan)'
	@echo 'make test-arm64    what enforces, in VMs of arm64, which are emulated: half an hour, and make test does without'
	@echo 'make lint          format, static analysis, include direction, licence headers'
	@echo 'make format        reformat the C sources'
	@echo 'make bench         measure costs against the budgets'
	@echo 'make bench-record  record what make test compares costs with'
	@echo 'make compare       the same attacks and jobs under other sandboxes, which are fetched, beside this one'
	@echo 'make kernels-update  moves the kernel that is newest in the tests to the newest that Debian has'
	@echo 'make coverage      how many lines the unit tests reach, by folder         (LIST=20: the files that lack most)'
	@echo 'make mutants       takes out one check after the other, to see who notices   (KERNEL=$(KERNEL) ONLY=PATTERN)'
	@echo 'make soak          long run under load     (MINUTES=$(MINUTES))'
	@echo 'make fuzz          fuzz every parser        (MINUTES=$(MINUTES) in all)'
	@echo 'make compile_commands.json  for editors and analyzers: how each source is compiled'
	@echo 'make wheel         the Python package, to $(BUILD)/wheel'
	@echo 'make install       to DESTDIR=$(DESTDIR) PREFIX=$(PREFIX);   make uninstall: remove what install put there'
	@echo 'make clean         remove what was built;   make distclean: the downloaded kernels too'
	@echo
	@echo 'Variables: ARCH=arm64 (built here for there) BUILD=$(BUILD) CC=$(CC) SETUP=$(SETUP) JOBS=$(JOBS) VERSION=$(VERSION)'

include mk/packages.mk

# --- the kernel's side ---------------------------------------------------------------------------

BPF_OBJECT   := $(BUILD)/enforce.bpf.o
BUILD_ID     := $(BUILD)/build_id.h
SKELETON_DIR := $(if $(filter build,$(BUILD)),skel,$(BUILD)/skel)
SKELETON     := $(SKELETON_DIR)/enforce.skel.h

# One object for all kernels (CO-RE): this says how the types look on one of them, libbpf relocates.
$(BUILD)/vmlinux.h: $(SERIES)6.12/version
	@mkdir -p $(@D)
	@echo "  GEN  $@"
	$(Q){ printf '/* Types of Linux %s, by bpftool from its BTF. */\n' "$$(cat $<)" && \
	  $(BPFTOOL) btf dump file $(<D)/btf format c; } >$@

BPF_CFLAGS := -std=gnu17 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(if $(filter arm64,$(ARCH)),arm64,x86) -g -O2 \
	-Wall -Wextra -Werror -Wno-missing-declarations -Wno-unused-parameter -Wshadow \
	-ffile-compilation-dir=. -I$(BUILD) -I. -Ibpf -idirafter $(if $(FOREIGN),$(ROOT))/usr/include/$(TRIPLET)

# clang orders types by the addresses of its objects, which depend on the lengths of paths: from standard input it
# knows no path, so that the object has the same bytes wherever the tree is.
$(BPF_OBJECT): bpf/enforce.bpf.c $(BUILD)/vmlinux.h Makefile | packages-build
	@echo "  BPF  $@"
	$(Q)$(BPF_CC) $(BPF_CFLAGS) -MMD -MP -MF $@.d -MT $@ -E $< -o $@.i
	$(Q)$(BPF_CC) $(BPF_CFLAGS) -Wno-unused-command-line-argument -x cpp-output -c - -o - <$@.i >$@
	$(Q)llvm-strip-19 -g $@

$(SKELETON): $(BPF_OBJECT)
	@mkdir -p $(@D)
	@echo "  SKEL $@"
	$(Q)$(BPFTOOL) gen skeleton $< name enforce_bpf >$@

# Tells the daemon whether what is pinned comes from the object that it carries.
$(BUILD_ID): $(BPF_OBJECT)
	@printf '#define CORDON_BUILD_ID "%.32s"\n' "$$(sha256sum <$<)" >$@

# --- userspace -----------------------------------------------------------------------------------

# cordon-ship, which alone needs libnats and libcurl: what of it is not in the libraries.
SHIP    := $(addprefix userspace/fleet/ship/,ship.c publisher.c otlp.c)
# What needs the network is in a program of its own, which nothing privileged loads.
FLEET_SOURCES := $(sort $(wildcard $(addprefix userspace/fleet/,clickhouse/*.c store/*.c ask/*.c)))
SOURCES := $(sort $(filter-out $(SHIP) $(FLEET_SOURCES),$(wildcard userspace/*/*.c userspace/*/*/*.c)))
# What users start: `run` alone. The rest is in lib/cordon/cordon, which it starts.
FRONT   := userspace/cli/run/front.c userspace/cli/run/accounts_file.c
# A program of its own, so that what speaks HTTP is in no process with privileges.
WATCH_MAIN := userspace/watch/main.c
# `run` for whoever has to be looked up where only the host's C library can.
RUN_MAIN := userspace/cli/run/runner.c
# What is in no program but theirs.
APART   := $(FRONT) $(RUN_MAIN) $(filter userspace/watch/%,$(SOURCES))
# What needs no kernel: libraries for every test program and fuzzer, built without the BPF object.
PURE    := $(filter $(addprefix userspace/,base/% policy/% audit/% insight/% control/% daemon/pure/% fleet/ship/% cli/term/moment.c),$(SOURCES))

WARNINGS := -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wold-style-definition \
	-Wshadow -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings \
	-Wno-missing-field-initializers
# gcc guesses at these across function boundaries; clang-tidy and the sanitizers know better.
GCC_WARNINGS := $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized -Wno-format-truncation)
HARDENING := -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter arm64,$(ARCH)),-mbranch-protection=standard,-fcf-protection) -fPIE
# Rewritten when the version is another, with all that says it.
VERSION_STAMP := $(BUILD)/version
VERSIONED     := $(shell grep -rlw --include='*.c' CORDON_VERSION userspace tests/unit)
CPPFLAGS += -D_GNU_SOURCE -DCORDON_VERSION='"$(VERSION)"' \
	-I$(BUILD) -I$(dir $(SKELETON_DIR)) -I$(SKELETON_DIR) -I. -Iuserspace
COMMON_CFLAGS := -std=gnu17 -g $(WARNINGS) -ffile-prefix-map=$(call quote,$(CURDIR))=.
CFLAGS  ?= -O2
LDFLAGS += -pie -Wl,-z,relro,-z,now,-z,noexecstack
LDLIBS  := -Wl,--as-needed -lbpf -lelf -lz -lyaml -ljansson -lcrypto -lcap -lseccomp -lsqlite3 -levent_core -lpthread -lm
SANITIZE := -O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
# Many programs of one archive: a third of the other linker's time.
SAN_LD   := -fuse-ld=lld-19

OBJECTS      := $(SOURCES:%.c=$(BUILD)/obj/%.o)
WHOLE        := $(BUILD)/lib/cordon/cordon
ARCHIVE      := $(BUILD)/libcordon.a
SAN_OBJECTS  := $(SOURCES:%.c=$(BUILD)/san/%.o)
SAN_PURE     := $(BUILD)/san/pure.a
FLEET        := $(BUILD)/cordon-fleet
FLEET_OBJECTS := $(FLEET_SOURCES:%.c=$(BUILD)/obj/%.o)
SAN_FLEET    := $(BUILD)/san/fleet.a
SAN_ALL      := $(BUILD)/san/all.a
FUZZ_PURE    := $(BUILD)/fuzz/pure.a
# Parsers beside those.
FUZZ_MORE    := $(BUILD)/fuzz/more.a
RUNNER       := $(BUILD)/lib/cordon/cordon-run
WATCH        := $(BUILD)/lib/cordon/cordon-watch
SHIPPER      := $(BUILD)/lib/cordon/cordon-ship
not_main      = $(filter-out $(addprefix %/userspace/,cli/host/main.o cli/run/front.o cli/run/runner.o cli/run/accounts_file.o watch/main.o),$(1))

all: $(BUILD)/cordon $(WHOLE) $(RUNNER) $(WATCH) $(SHIPPER) $(FLEET)

$(SHIPPER): $(SHIP:%.c=$(BUILD)/obj/%.o) $(ARCHIVE)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -lnats -lcurl -o $@

$(WATCH): $(WATCH_MAIN:%.c=$(BUILD)/obj/%.o) $(ARCHIVE)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections $^ -Wl,--as-needed -lmicrohttpd -ljansson -lcrypto -lcap -lseccomp -lm -o $@

$(WHOLE): $(filter-out $(APART:%.c=$(BUILD)/obj/%.o),$(OBJECTS))
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

# What would need one more library does not link. Few of the functions of these are taken.
$(BUILD)/cordon: $(FRONT:%.c=$(BUILD)/obj/%.o) $(ARCHIVE)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(filter-out -pie,$(LDFLAGS)) -static-pie -Wl,--gc-sections $^ -ljansson -lcap -lcrypto -o $@

# The same, but for the C library.
$(RUNNER): $(RUN_MAIN:%.c=$(BUILD)/obj/%.o) $(ARCHIVE)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections $^ -Wl,-Bstatic -ljansson -lcap -lcrypto -Wl,-Bdynamic -o $@

$(FLEET): $(FLEET_OBJECTS) $(ARCHIVE)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -lnats -lcurl -o $@

# Both are generated; the dependency files know them only after the first build.
$(filter-out $(PURE:%.c=$(BUILD)/obj/%.o),$(OBJECTS)): | $(SKELETON) $(BUILD_ID)
$(filter-out $(PURE:%.c=$(BUILD)/san/%.o),$(SAN_OBJECTS)): | $(SKELETON) $(BUILD_ID)
$(filter-out $(PURE:%.c=$(BUILD)/tidy/%.ok),$(SOURCES:%.c=$(BUILD)/tidy/%.ok)): | $(SKELETON) $(BUILD_ID)

$(VERSION_STAMP): always
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@

$(foreach kind,obj san fuzz,$(VERSIONED:%.c=$(BUILD)/$(kind)/%.o)): $(VERSION_STAMP)

$(BUILD)/obj/%.o: %.c Makefile | packages-build
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(CPPFLAGS) $(COMMON_CFLAGS) $(GCC_WARNINGS) $(HARDENING) $(CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/san/%.o: %.c Makefile | packages-unit
	@mkdir -p $(@D)
	@echo "  CC   $< (sanitized)"
	$(Q)$(SAN_CC) $(CPPFLAGS) $(COMMON_CFLAGS) $(SANITIZE) -MMD -MP -c $< -o $@

$(BUILD)/fuzz/%.o: %.c Makefile | packages-unit
	@mkdir -p $(@D)
	@echo "  CC   $< (fuzzed)"
	$(Q)$(SAN_CC) $(CPPFLAGS) $(COMMON_CFLAGS) $(SANITIZE) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@

# A folder like $(BUILD) in which the daemon and its helpers are checked while the tests of what enforces run; what
# begins executions stays as it is, since static programs cannot be.
SANITIZED    := $(BUILD)/sanitized
SAN_MAIN     := $(BUILD)/san/userspace/cli/host/main.o $(BUILD)/san/tests/sanitized/report.o
$(SANITIZED)/lib/cordon/cordon: $(SAN_MAIN) $(SAN_ALL)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(SAN_CC) $(SANITIZE) $^ $(LDLIBS) -o $@

# What executions are given by its name is no symbolic link.
$(SANITIZED)/cordon: $(BUILD)/cordon $(SANITIZED)/lib/cordon/cordon $(RUNNER) $(WATCH) $(SHIPPER) helpers always
	$(Q)ln -sfnr $(filter-out %/sanitized %/lib %/tests %/cordon,$(wildcard $(BUILD)/*)) $(@D)
	$(Q)ln -sfnr $(WATCH) $(SHIPPER) $(@D)/lib/cordon
	$(Q)cp $(RUNNER) $(@D)/lib/cordon
	$(Q)rm -rf $(@D)/tests && cp -al $(BUILD)/tests $(@D)/tests
	$(Q)rm -rf $(@D)/share/cordon && mkdir -p $(@D)/share/cordon && cp -r policies $(@D)/share/cordon
	$(Q)cp $< $@

$(ARCHIVE): $(call not_main,$(OBJECTS))
$(SAN_ALL): $(call not_main,$(SAN_OBJECTS))
$(SAN_PURE): $(PURE:%.c=$(BUILD)/san/%.o)
$(SAN_FLEET): $(filter-out %/cmd_store.o %/stream.o %_stream.o %/fleet/ask/cmd_%.o %/main.o,$(FLEET_SOURCES:%.c=$(BUILD)/san/%.o))
$(FUZZ_PURE): $(PURE:%.c=$(BUILD)/fuzz/%.o)
$(FUZZ_MORE): $(patsubst %.c,$(BUILD)/fuzz/%.o,$(filter $(addprefix userspace/,config/% adopt/initial_stack.c \
	cli/mcp/session.c cli/mcp/tools.c cli/mcp/rpc.c cli/mcp/refusals.c cli/mcp/job.c cli/mcp/capture.c cli/term/exit_status.c \
	daemon/execution/state.c daemon/host/process.c daemon/policy/approval_file.c fleet/store/batch.c fleet/store/delivery.c \
	fleet/store/presence.c fleet/store/row.c watch/exposition.c watch/metrics.c),$(SOURCES) $(FLEET_SOURCES)))
$(ARCHIVE) $(SAN_ALL) $(SAN_PURE) $(SAN_FLEET) $(FUZZ_PURE) $(FUZZ_MORE):
	@rm -f $@
	@$(AR) rcs $@ $^

include mk/tests.mk

# --- Python ---------------------------------------------------------------------------------------

wheel: $(WHEEL)

# Built in a copy, because setuptools writes next to the sources. The copy has fixed modes: the wheel records them.
$(WHEEL): $(PYTHON_SOURCES) LICENSE Makefile $(VERSION_STAMP) | packages-wheel
	@rm -rf $(@D) $(BUILD)/python && mkdir -p $(@D) $(BUILD)/python/cordon_sandbox
	@install -m 644 LICENSE $(filter-out python/cordon_sandbox/%,$(PYTHON_SOURCES)) $(BUILD)/python
	@install -m 644 $(filter python/cordon_sandbox/%,$(PYTHON_SOURCES)) $(BUILD)/python/cordon_sandbox
	@sed -i 's/^\(__version__\|version\) = ".*"$$/\1 = "$(VERSION)"/' $(BUILD)/python/cordon_sandbox/__init__.py $(BUILD)/python/pyproject.toml
	@echo "  WHL  $(@D)"
	$(Q)cd $(BUILD)/python && umask 022 && LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-1700000000} /usr/bin/python3 -c \
		'import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])' $(call absolute,$(@D)) >log 2>&1 || \
		{ cat log >&2; exit 1; }
	@touch $@

# --- installing ----------------------------------------------------------------------------------

install: all
	@packaging/install-files install '$(BUILD)' '$(PREFIX)' '$(DESTDIR)'

# The host's own policies, cordon.yaml, the log and state stay.
uninstall:
	@packaging/install-files uninstall '$(BUILD)' '$(PREFIX)' '$(DESTDIR)'

clean:
	rm -rf $(filter-out $(BUILD)/kernels,$(wildcard $(BUILD)/*)) $(SKELETON)

distclean: clean
	rm -rf $(KERNELS) $(BUILD) compile_commands.json

-include $(BPF_OBJECT).d
-include $(SHIP:%.c=$(BUILD)/obj/%.d)
-include $(FLEET_OBJECTS:.o=.d) $(FLEET_SOURCES:%.c=$(BUILD)/san/%.d)
-include $(OBJECTS:.o=.d) $(SAN_OBJECTS:.o=.d) $(PURE:%.c=$(BUILD)/fuzz/%.d)
-include $(UNIT_SOURCES:%.c=$(BUILD)/san/%.d) $(FUZZ_SOURCES:%.c=$(BUILD)/fuzz/%.d)
-include $(wildcard $(TIDY_DEPS))
-include $(LINKED_TESTS:$(BUILD)/%=$(BUILD)/obj/%.d) $(TEST_SKELETONS:.skel.h=.bpf.o.d)
