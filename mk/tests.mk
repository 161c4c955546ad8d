# SPDX-License-Identifier: Apache-2.0
#
# Programs of tests, and the goals that run them. Part of the Makefile.

UNIT_SOURCES   := $(sort $(wildcard $(addprefix tests/unit/$(or $(UNIT),*)/,test_*.c */test_*.c)))
UNIT_PROGRAMS  := $(UNIT_SOURCES:%.c=$(BUILD)/%)
# Tests of what needs no kernel link what needs none, so that they build when the BPF object does not.
UNIT_PURE      := $(filter $(addprefix $(BUILD)/tests/unit/,base/% policy/% audit/% insight/% control/% daemon/pure/% fleet/ship/% bpf/%),$(UNIT_PROGRAMS))
UNIT_FLEET     := $(filter $(addprefix $(BUILD)/tests/unit/fleet/,clickhouse/% store/% ask/%),$(UNIT_PROGRAMS))
UNIT_OTHER     := $(filter-out $(UNIT_PURE) $(UNIT_FLEET),$(UNIT_PROGRAMS))
FUZZ_SOURCES   := $(sort $(wildcard tests/fuzz/fuzz_$(or $(FUZZ),*).c))
FUZZ_PROGRAMS  := $(FUZZ_SOURCES:%.c=$(BUILD)/%)
# Small programs that tests run inside the VM or under cordon: no libraries, no sanitizers.
HELPER_SOURCES := $(sort $(wildcard tests/integration/helpers/*.c))
HELPERS        := $(HELPER_SOURCES:tests/integration/helpers/%.c=$(BUILD)/tests/helpers/%)
# Attacks by what only x86 has.
ELSEWHERE      := $(if $(filter arm64,$(ARCH)),$(shell grep -rl --include='*.c' '^ [*] Needs: machine x86_64' tests/redteam))
REDTEAM        := $(patsubst %.c,$(BUILD)/%,$(sort $(filter-out $(ELSEWHERE),$(wildcard tests/redteam/*.c tests/redteam/*/*.c))))
# Programs that drive cordon's own code inside the VM.
LINKED_TESTS   := $(patsubst %.c,$(BUILD)/%,$(sort $(filter-out %.bpf.c,$(wildcard tests/bpf/*.c tests/bench/*.c tests/schema/*.c tests/fleet/*.c)))) \
	$(BUILD)/tests/bench/kernel/filter $(BUILD)/tests/bench/kernel/verifier
# What is measured there: nothing but the C library.
BENCH_STATIC   := $(BUILD)/tests/bench/kernel/operations
# Programs of tests that run in a kernel, with a skeleton each.
TEST_SKELETONS := $(patsubst %.bpf.c,$(BUILD)/%.skel.h,$(sort $(wildcard tests/bpf/*.bpf.c)))

$(UNIT_PURE): $(BUILD)/tests/unit/%: $(BUILD)/san/tests/unit/%.o $(SAN_PURE)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(SAN_CC) $(SANITIZE) $(SAN_LD) $< $(SAN_PURE) $(LDLIBS) -lcmocka -o $@

$(UNIT_FLEET): $(BUILD)/tests/unit/%: $(BUILD)/san/tests/unit/%.o $(SAN_FLEET) $(SAN_PURE)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(SAN_CC) $(SANITIZE) $(SAN_LD) $< $(SAN_FLEET) $(SAN_PURE) $(LDLIBS) -lcurl -lcmocka -o $@

$(UNIT_OTHER): $(BUILD)/tests/unit/%: $(BUILD)/san/tests/unit/%.o $(SAN_ALL)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(SAN_CC) $(SANITIZE) $(SAN_LD) $< $(SAN_ALL) $(LDLIBS) -lcmocka -o $@

$(FUZZ_PROGRAMS): $(BUILD)/tests/fuzz/%: $(BUILD)/fuzz/tests/fuzz/%.o $(FUZZ_MORE) $(FUZZ_PURE)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(SAN_CC) $(SANITIZE) $(SAN_LD) -fsanitize=fuzzer $< $(FUZZ_MORE) $(FUZZ_PURE) $(LDLIBS) -o $@

$(HELPERS): $(BUILD)/tests/helpers/%: tests/integration/helpers/%.c Makefile mk/tests.mk | packages-build
$(REDTEAM): $(BUILD)/tests/redteam/%: tests/redteam/%.c $(wildcard tests/redteam/*.h) Makefile mk/tests.mk | packages-build
$(BENCH_STATIC): $(BUILD)/tests/bench/%: tests/bench/%.c $(wildcard tests/bench/kernel/*.h) Makefile mk/tests.mk | packages-build
$(HELPERS) $(REDTEAM) $(BENCH_STATIC):
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu17 -O2 -g -Wall -Wextra -Werror -I. -static $< -o $@ -lpthread

$(LINKED_TESTS): $(BUILD)/%: $(BUILD)/obj/%.o $(ARCHIVE)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(ARCHIVE) $(LDLIBS) -o $@

# Other builds, for tests of one that takes over from another: with a program more, and with another map.
VARIANTS := $(BUILD)/variants/newer/cordon $(BUILD)/variants/other-maps/cordon
VARIANT_SOURCES := userspace/kernel/enforcement.c userspace/kernel/loader.c userspace/kernel/upgrade.c
$(BUILD)/variants/newer/%: VARIANT := -DCORDON_VARIANT
$(BUILD)/variants/other-maps/%: VARIANT := -DRECENT_DENIALS=4096

$(BUILD)/variants/%/enforce.bpf.o: bpf/enforce.bpf.c $(BPF_OBJECT) Makefile mk/tests.mk
	@mkdir -p $(@D)
	@echo "  BPF  $@"
	$(Q)$(BPF_CC) $(BPF_CFLAGS) $(VARIANT) -c $< -o $@
	$(Q)llvm-strip-19 -g $@

$(BUILD)/variants/%/cordon: $(BUILD)/variants/%/enforce.bpf.o $(OBJECTS)
	@echo "  LD   $@"
	$(Q)$(BPFTOOL) gen skeleton $< name enforce_bpf >$(@D)/enforce.skel.h
	$(Q)printf '#define CORDON_BUILD_ID "%.32s"\n' "$$(sha256sum <$<)" >$(@D)/build_id.h
	$(Q)for source in $(VARIANT_SOURCES); do \
		$(CC) -I$(@D) $(CPPFLAGS) $(COMMON_CFLAGS) $(GCC_WARNINGS) $(HARDENING) $(CFLAGS) -c $$source \
			-o $(@D)/$$(basename $$source .c).o || exit 1; done
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter-out $(APART:%.c=$(BUILD)/obj/%.o) $(VARIANT_SOURCES:%.c=$(BUILD)/obj/%.o),$(OBJECTS)) \
		$(addprefix $(@D)/,$(notdir $(VARIANT_SOURCES:.c=.o))) $(LDLIBS) -o $@

# All mutations of a table in one object, each behind its number: tests/mutants/run.
MUTANTS := $(BUILD)/variants/mutants

$(MUTANTS)/enforce.bpf.o: tests/mutants/checks tests/mutants/mutant.h tests/mutants/run $(BPF_OBJECT)
	@mkdir -p $(@D)
	@echo "  BPF  $@"
	$(Q)tests/mutants/run --sources $(@D)/source
	$(Q)$(BPF_CC) -I$(@D)/source $(BPF_CFLAGS) -w -include tests/mutants/mutant.h -c $(@D)/source/bpf/enforce.bpf.c -o $@
	$(Q)llvm-strip-19 -g $@

# Linked with the objects that are made of that build's skeleton, in the place of the usual ones.
$(MUTANTS)/executions: $(BUILD)/obj/tests/bpf/executions.o $(MUTANTS)/cordon $(ARCHIVE)
	@echo "  LD   $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(addprefix $(@D)/,$(notdir $(VARIANT_SOURCES:.c=.o))) $(ARCHIVE) $(LDLIBS) -o $@

# They take what they need of the enforcement, and leave the rest.
$(BUILD)/tests/bpf/%.bpf.o: tests/bpf/%.bpf.c $(BUILD)/vmlinux.h Makefile mk/tests.mk | packages-build
	@mkdir -p $(@D)
	@echo "  BPF  $@"
	$(Q)$(BPF_CC) $(BPF_CFLAGS) -Wno-unused-function -MMD -MP -MF $@.d -MT $@ -c $< -o $@

$(BUILD)/tests/bpf/%.skel.h: $(BUILD)/tests/bpf/%.bpf.o
	@echo "  SKEL $@"
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

.SECONDARY: $(TEST_SKELETONS:.skel.h=.bpf.o) $(VARIANTS:%/cordon=%/enforce.bpf.o) $(MUTANTS)/enforce.bpf.o
$(LINKED_TESTS:$(BUILD)/%=$(BUILD)/obj/%.o): | $(TEST_SKELETONS) $(SKELETON) $(BUILD_ID)
$(UNIT_OTHER:$(BUILD)/%=$(BUILD)/san/%.o): | $(SKELETON) $(BUILD_ID)

# Tables of strings in tests need no const, and libFuzzer's entry point no prototype.
$(BUILD)/san/tests/%.o $(BUILD)/fuzz/tests/%.o: COMMON_CFLAGS += -Wno-write-strings -Wno-missing-prototypes

helpers: $(HELPERS) $(REDTEAM) $(LINKED_TESTS) $(BENCH_STATIC) $(VARIANTS)
fuzzers: $(FUZZ_PROGRAMS)
PYTHON_SOURCES := $(sort $(wildcard python/cordon_sandbox/*.py) python/cordon_sandbox/py.typed) python/pyproject.toml python/README.md
WHEEL          := $(BUILD)/wheel/complete

# Everything that `make test` runs, built in one go.
programs: all helpers fuzzers $(UNIT_PROGRAMS) $(WHEEL)

# How the unit tests are compiled and linked, for those who change a source of theirs.
unit-compiler:
	@$(info $(SAN_CC) $(CPPFLAGS) $(COMMON_CFLAGS) -Wno-write-strings -Wno-missing-prototypes $(SANITIZE))
	@$(info $(SAN_CC) $(SANITIZE) $(SAN_LD))
	@$(info $(LDLIBS) -lcmocka)

unit: packages-unit kernels $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS)
	@tests/unit/run $(BUILD)

corpus: packages-unit $(FUZZ_PROGRAMS)
	@tests/fuzz/run --replay $(BUILD)

fuzz: packages-unit $(FUZZ_PROGRAMS)
	@tests/fuzz/run --minutes $(MINUTES) $(BUILD)

# failure.c defines what the analyzer's header describes.
tidy_include = $(if $(filter %/failure.c,$(1)),,-include tests/lint/analyzer.h)
# What __attribute__((cleanup)) frees is a leak to unix.Malloc, which finds double frees as well.
only_leaks = { grep -q ' error: ' $@.log && ! grep ' error: ' $@.log | grep -qv 'Potential \(leak of memory\|memory leak\).*unix.Malloc'; }
TIDY_STAMPS := $(patsubst %.c,$(BUILD)/tidy/%.ok,$(SOURCES) $(SHIP) $(FLEET_SOURCES))

# LATEST=20: only the files that were changed last, so many.
tidy_latest = $(shell tests/lint/latest $(LATEST) $(1:$(BUILD)/tidy/%.ok=%.c))
tidy: $(if $(LATEST),$(patsubst %.c,$(BUILD)/tidy/%.ok,$(call tidy_latest,$(TIDY_STAMPS))),$(TIDY_STAMPS))

# Of those without a dependency file nobody knows what they include.
TIDY_DEPS := $(TIDY_STAMPS:.ok=.d)
$(patsubst %.d,%.ok,$(filter-out $(wildcard $(TIDY_DEPS)),$(TIDY_DEPS))): always
always:

$(BUILD)/tidy/%.ok: %.c .clang-tidy tests/lint/analyzer.h | packages-unit
	@mkdir -p $(@D)
	@echo "  tidy $<"
	@$(SAN_CC) -std=gnu17 $(CPPFLAGS) -MM -MP -MF $(@:.ok=.d) -MT $@ $<
	@clang-tidy-19 --quiet $< -- -std=gnu17 $(call tidy_include,$<) $(CPPFLAGS) >$@.log 2>&1 || $(only_leaks) || \
		{ cat $@.log >&2; exit 1; }
	@touch $@

COMPILED := tests/lint/compile-commands $(call quote,$(CURDIR))
compile_commands.json: always $(SKELETON) $(BUILD_ID)
	@{ $(COMPILED) $(SOURCES) $(SHIP) $(FLEET_SOURCES) -- $(CC) $(CPPFLAGS) $(COMMON_CFLAGS) $(CFLAGS) && \
	   $(COMPILED) $(UNIT_SOURCES) $(FUZZ_SOURCES) -- $(SAN_CC) $(CPPFLAGS) $(COMMON_CFLAGS) -Wno-write-strings -Wno-missing-prototypes $(SANITIZE) && \
	   $(COMPILED) $(HELPER_SOURCES) $(REDTEAM:$(BUILD)/%=%.c) -- $(CC) -D_GNU_SOURCE -std=gnu17 -O2 -g -Wall -Wextra -I. && \
	   $(COMPILED) bpf/enforce.bpf.c -- $(BPF_CC) $(BPF_CFLAGS); } | \
		python3 -c 'import json, sys; json.dump([json.loads(line) for line in sys.stdin], open("$@", "w"), indent=1)'

lint: packages-unit
	+@tests/lint/run $(BUILD)

format: packages-unit
	@tests/lint/sources | grep '\.[ch]$$' | xargs -r -d '\n' clang-format-19 -i

# What every commit has to pass, in ten minutes.
test: packages programs
	+@tests/run-test

# Everything, on all kernels: for releases and at night.
test-all: packages programs executors clickhouse containers frameworks
	+@tests/run-all

test-unit: unit

# In a build of their own. LIST=20 names so many files with the most lines that no unit test reaches.
COVERAGE := -O1 -Wno-unused-command-line-argument -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation
coverage:
	+@$(MAKE) BUILD=$(BUILD)/coverage KERNELS=$(KERNELS) SANITIZE='$(COVERAGE)' unit-programs
	@tests/unit/coverage $(BUILD)/coverage $(LIST)

unit-programs: packages-unit kernels $(UNIT_PROGRAMS)

# What tests/integration/run knows as parts, on one kernel.
test-vm: packages-vm kernels all helpers $(if $(SAN),$(SANITIZED)/cordon)
	@tests/vm/run --kernel $(KERNEL) --timeout $(if $(SAN),9000,3000) --env BUILD=$(if $(SAN),$(SANITIZED),$(BUILD)) -- \
		tests/integration/run $(PART)

# What enforces, on Debian's kernels for arm64.
test-arm64:
	@$(MAKE) ARCH=arm64 BUILD=build-arm64 all helpers
	@BUILD=build-arm64 tests/run-arm64

check: packages programs $(MUTANTS)/executions
	+@tests/check $(BUILD) $(KERNEL)

# Only what the story runs.
demo: packages-build $(KERNELS)/6.12/version $(BUILD)/cordon $(WHOLE) $(RUNNER)
	@tests/demo/run

# Three hosts, a server, a store and Prometheus, in one VM.
fleet-demo: packages-build $(KERNELS)/6.12/version all $(BUILD)/tests/fleet/write_log
	@tests/demo/fleet

bench: packages all helpers
	@tests/bench/run

# After a change that is meant to cost more, or less: to be committed with it.
bench-record: packages all helpers
	@set -e; for kernel in 6.1 6.12 newest; do CORDON_VM_KERNEL=$$kernel tests/bench/guard --record; done

# Those of userspace by unit tests, those of bpf/ in a VM. ONLY chooses, as tests/mutants/run says.
mutants: packages all helpers $(SAN_ALL) $(MUTANTS)/executions
	@tests/mutants/run --units $(BUILD) $(if $(ONLY),--only '$(ONLY)')
	@tests/vm/run --kernel $(KERNEL) --timeout 7200 -- tests/mutants/run $(BUILD) $(if $(ONLY),--only '$(ONLY)')

# Other sandboxes beside this one.
compare: packages all helpers sandboxes
	@BUILD=$(BUILD) tests/compare/run

soak: packages all helpers executors containers frameworks obeying everyday sandboxes $(MUTANTS)/executions
	@tests/soak/run --minutes $(MINUTES)
