# SPDX-License-Identifier: Apache-2.0
#
# Packages, kernels and programs of others that goals need. Part of the Makefile.

# The package groups that each goal needs beside `build`. They are installed in one go, after one consent.
GROUPS_demo       := demo
GROUPS_fleet-demo := demo fleet-demo
GROUPS_packages   := test
GROUPS_test       := test
GROUPS_unit       := unit
GROUPS_test-unit  := unit
GROUPS_lint       := unit
GROUPS_test-vm    := unit vm
GROUPS_check      := test
GROUPS_mutants    := test
$(foreach goal,test-all bench bench-record compare soak $(filter-out packages packages-% kernels%,$(FETCHING)),$(eval GROUPS_$(goal) := test-all))
GROUPS_compare    += compare
GROUPS_sandboxes  += compare
GROUPS_everyday   += everyday
GROUPS_soak       += compare everyday
WANTED_GROUPS     := build $(sort $(foreach goal,$(MAKECMDGOALS),$(GROUPS_$(goal))) $(FOREIGN))

packages: packages-build kernels

# Megabytes that the first build takes.
BUILD_SPACE := $(if $(filter demo,$(MAKECMDGOALS)),150,$(if $(filter test test-all,$(MAKECMDGOALS)),1500,400))

# Checked on every run, which takes milliseconds, because packages can also be removed.
packages-build:
	@packaging/setup/install-packages $(WANTED_GROUPS)
	@$(if $(wildcard $(BUILD)/libcordon.a),,bash -c '. packaging/setup/common.sh && require_space build "$(BUILD)" $(BUILD_SPACE)')
	@$(if $(FOREIGN),packaging/setup/fetch-root $(ROOT) $(ARCH))

packages-test: | packages-build
	@packaging/setup/install-packages build test

packages-test-all: | packages-build
	@packaging/setup/install-packages build test-all

packages-unit: | packages-build
	@packaging/setup/install-packages build unit

packages-wheel: | packages-build
	@packaging/setup/install-packages build packages

packages-vm: | packages-build
	@packaging/setup/install-packages build unit vm

# Where the tests see it: what pip and others install holds absolute paths of itself.
FETCH := tests/at-public-path packaging/setup/fetch-executors $(BUILD)/executors

# Those of other people, which the tests adopt, and what else of theirs they need.
executors: | packages-test-all
	@$(FETCH) autogen sigma

containers: | packages-test-all
	@$(FETCH) root docker

# Those that the Python package has adapters for.
frameworks: | packages-test-all
	@$(FETCH) frameworks

# What a fleet's store may have its rows in.
clickhouse: | packages-test-all
	@$(FETCH) clickhouse

# Programs that obey what executions leave, which are large.
obeying: | packages-test-all
	@$(FETCH) obeying

# Toolchains and tools that people use every day, which are large, too.
everyday: | packages-test-all
	@packaging/setup/install-packages everyday
	@$(FETCH) everyday

# Other sandboxes: to be compared with, and to run inside executions.
sandboxes: | packages-test-all
	@packaging/setup/install-packages compare
	@$(FETCH) sandboxes docker

kernels: $(KERNELS)/6.1/version $(KERNELS)/6.12/version $(KERNELS)/newest/version

# To the newest that Debian has: to be committed with what it takes.
kernels-update: | packages-build
	@packaging/setup/fetch-kernels --update

$(KERNELS)/newest/version: packaging/setup/newest-kernel

$(KERNELS)/%/version: | packages-build
	@packaging/setup/fetch-kernels $(KERNELS) $*
