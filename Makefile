# SPDX-License-Identifier: GPL-2.0
#
# make          the commands for this machine: build/rocesteer, rocesteer-perf
# make mpi      what programs of MPI preload, for each MPI that is here: part of "make"
# make module   rocesteer.ko, for hosts, and rocesteer_reduce.ko, for switches, for this
#               machine's kernel (KDIR=, needs its headers)
# make install  commands, manual pages, completion, unit, documentation, what Slurm loads, and
#               the modules if they are built (PREFIX=, DESTDIR=)
# make uninstall  removes what "make install" installs
# make deb      Debian packages in build/deb, of this version or of DEB_VERSION=
# make demo     in a guest: a fabric, traffic under several policies, the comparison, and
#               a collective; with options (DEMO="--help") the comparison alone
# make demo-all all policies and traffics on three fabrics, and on broken links: a night;
#               the main ones in a fat tree; and demo-chunk
# make demo-chunk  collectives over two dimensions, measured against their plans
# make demo-reduce  All-Reduces by a ring, and by switches that sum
# make check    all tests, what is random or repeats itself a few times: 25 minutes
# make check-all  all tests on both kernels, and all of that; BPF programs of two more clangs
# make check-debug  the modules on a kernel that checks itself, an hour; more with
#               DEBUG=RUN[:TEST]
# make fuzz     readers of files and of the network, a minute each (FUZZ_SECONDS=,
#               TARGETS=): selftests/fuzz/run
# make bench    what steering and placing cost (BENCH=cost|slice|replay|reduce|simulate: one of them)
# V=1 shows the commands.

BUILD	?= build
KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
DESTDIR	?=
include scripts/build.mk

VERSION	:= $(shell cat VERSION)
# For each target of "make fuzz".
FUZZ_SECONDS	?= 60
export FUZZ_SECONDS

MAN	:= $(wildcard Documentation/man/*.rst)

all: $(BUILD)/rocesteer $(BUILD)/rocesteer-perf slurm mpi

# Told before anything is compiled: what is missing.
have:
	@scripts/deps have $(CC) clang bpftool pkg-config $(PACKAGES) libibverbs libelf zlib

bpf: have
	@$(MAKE) -C bpf BUILD=$(abspath $(BUILD))

# One make for both: they share objects.
$(BUILD)/rocesteer $(BUILD)/rocesteer-perf &: bpf
	@$(MAKE) -C user BUILD=$(abspath $(BUILD)) rocesteer rocesteer-perf

# The plugin for Slurm, where its headers are.
slurm:
	@$(MAKE) -C packaging/slurm BUILD=$(abspath $(BUILD))

# What programs of MPI preload, where the compilers of Open MPI or MPICH are.
mpi: have
	@$(MAKE) -C user BUILD=$(abspath $(BUILD)) mpi

tests: $(BUILD)/rocesteer $(BUILD)/rocesteer-perf slurm mpi
	@$(MAKE) -C bpf BUILD=$(abspath $(BUILD)) all
	@$(MAKE) -C selftests BUILD=$(abspath $(BUILD)) native
	@$(MAKE) -C user BUILD=$(abspath $(BUILD)) tests

# What selftests and benchmarks run in the guest as well.
guest: $(BUILD)/rocesteer $(BUILD)/rocesteer-perf slurm mpi
	@$(MAKE) -C bpf BUILD=$(abspath $(BUILD)) all
	@$(MAKE) -C selftests BUILD=$(abspath $(BUILD))
	@$(MAKE) -C bench BUILD=$(abspath $(BUILD))

# Kernels before 6.13 build a module where its source is: build a copy.
module:
	@test -e $(KDIR)/Makefile || { echo "make: $(KDIR): no headers of this kernel;" \
		"Debian has them in linux-headers-$$(uname -r)" >&2; exit 2; }
	@mkdir -p $(BUILD)/module
	@cp -ru Kbuild VERSION kmod include $(BUILD)/module/
	@$(MAKE) -C $(KDIR) M=$(abspath $(BUILD))/module modules
	@kmod/has-btf $(BUILD)/module/kmod/steer/rocesteer.ko
	@cp $(BUILD)/module/kmod/*/rocesteer*.ko $(BUILD)/

demo:
	scripts/deps demo
	demo/run $(DEMO)
	$(if $(DEMO),,demo/chunk.sh 4x2)

demo-all:
	scripts/deps demo
	failed=0; \
	demo/run --policies all --patterns all --hosts 2,3,4 || failed=1; \
	demo/run --keep yes --policies all --patterns all-to-all --hosts 4 --links dead,slow || \
		failed=1; \
	demo/run --pods 4 --policies ecmp,ecmp-4qp,place,all || failed=1; \
	demo/run --pods 4 --keep yes --policies ecmp,place,all --patterns all-to-all \
		--links dead,core && exit $$failed
	demo/chunk.sh

demo-chunk:
	scripts/deps demo
	demo/chunk.sh $(DEMO)

demo-reduce:
	scripts/deps demo
	demo/reduce.sh $(DEMO)

check:
	scripts/deps check
	scripts/check

check-all:
	scripts/deps check-all
	scripts/check --all

check-debug:
	scripts/deps check
	scripts/check-debug $(DEBUG)

fuzz: all
	$(MAKE) -C selftests/fuzz BUILD=$(abspath $(BUILD)) $(if $(TARGETS),TARGETS="$(TARGETS)")
	selftests/fuzz/run $(TARGETS)

bench:
	scripts/deps check
	bench/run $(BENCH)

man: have-man $(patsubst Documentation/man/%.rst,$(BUILD)/man/%,$(MAN))

have-man:
	@scripts/deps have rst2man

$(BUILD)/man/%: Documentation/man/%.rst | have-man
	@mkdir -p $(@D)
	$(call say,MAN)rst2man $< $@

# Where things go. Files name /usr/local and the Documentation/ of the source.
DOC	= $(PREFIX)/share/doc/rocesteer
ZSH	?= $(PREFIX)/share/zsh/site-functions
# Not by wildcard, which does not see what this make has built
built	= $(shell ls $(addprefix $(BUILD)/,$(1)) 2>/dev/null)
put	= @install -D -m $(1) -t $(DESTDIR)$(2) $(3)
paths	= @sed -i -e 's|/usr/local|$(PREFIX)|g' -e 's|Documentation/\([a-z]*\.rst\)|$(DOC)/\1|g' \
	$(addprefix $(DESTDIR),$(1))

install: all man
	$(call put,755,$(PREFIX)/sbin,$(BUILD)/rocesteer $(BUILD)/rocesteer-perf)
	$(call put,644,$(PREFIX)/share/man/man8,$(BUILD)/man/*.8)
	$(if $(call built,librocesteer-mpi-*.so),$(call put,644,$(PREFIX)/lib,$(call \
		built,librocesteer-mpi-*.so)))
	$(call put,644,$(PREFIX)/share/man/man7,$(BUILD)/man/*.7)
	$(call put,644,$(PREFIX)/share/bash-completion/completions,packaging/completion/rocesteer)
	@ln -sf rocesteer $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocesteer-perf
	$(call put,644,$(ZSH),packaging/completion/_rocesteer)
	$(call put,644,$(DOC),README.md CHANGELOG.md Documentation/*.* Documentation/netlink/specs/* \
		packaging/slurm/*.conf packaging/prometheus/rocesteer.rules.yml \
		packaging/grafana/rocesteer.json)
	$(call put,755,$(PREFIX)/lib/rocesteer,packaging/slurm/rocesteer-slurmctld \
		$(call built,slurm/rocesteer.so))
	$(call put,644,$(PREFIX)/lib/systemd/system,packaging/systemd/*)
	$(call put,644,/etc/rocesteer/jobs.d,packaging/jobs.d/README)
	$(call paths,$(PREFIX)/share/man/man8/rocesteer* $(PREFIX)/share/man/man7/librocesteer* \
		$(DOC)/slurm.rst $(DOC)/reduce.rst $(DOC)/*.conf $(DOC)/*.yml \
		$(PREFIX)/lib/systemd/system/rocesteer*)
	$(if $(MODULES),$(call put,644,$(MODULES_DIR),$(MODULES)))
	$(if $(MODULES),$(call put,644,$(PREFIX)/lib/modules-load.d,packaging/modules-load.d/rocesteer.conf))
	$(if $(MODULES),@depmod)

# The modules go to the kernel that runs, not to where packages are made.
MODULES	= $(if $(DESTDIR),,$(call built,rocesteer.ko rocesteer_reduce.ko))
MODULES_DIR := /lib/modules/$(shell uname -r)/updates

# What "make install" installs now; directories of ours that are empty then.
uninstall:
	@rm -rf $(BUILD)/uninstall
	@$(MAKE) -s install DESTDIR=$(abspath $(BUILD))/uninstall
	@cd $(BUILD)/uninstall && find . ! -type d | (cd $(DESTDIR)/ && xargs rm -f)
	@cd $(BUILD)/uninstall && find . -depth -type d -path '*/rocesteer*' | \
		(cd $(DESTDIR)/ && xargs rmdir --ignore-fail-on-non-empty 2>/dev/null || true)
	$(if $(DESTDIR),,@rm -f $(PREFIX)/lib/modules-load.d/rocesteer.conf \
		$(MODULES_DIR)/rocesteer.ko $(MODULES_DIR)/rocesteer_reduce.ko && depmod)

# In a copy: dpkg-buildpackage wants debian/ at the top, and writes beside it.
DEB_VERSION ?= $(VERSION)
DEB	:= $(abspath $(BUILD))/deb

deb:
	scripts/deps deb
	@rm -rf $(DEB) && mkdir -p $(DEB)/rocesteer
	@tar -c --exclude-vcs --exclude=./build --exclude=./$(BUILD) . | tar -x -C $(DEB)/rocesteer
	@cd $(DEB)/rocesteer && cp -r packaging/debian . && echo $(DEB_VERSION) >VERSION && \
		sed -i 's/@VERSION@/$(DEB_VERSION)/' debian/changelog && \
		DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$$(nproc)" dpkg-buildpackage -b -us -uc
	@rm -rf $(DEB)/rocesteer
	@ls $(DEB)/*.deb

clean:
	rm -rf $(BUILD)

.PHONY: all have have-man bpf slurm mpi guest tests module demo demo-all demo-chunk demo-reduce check \
	check-all check-debug fuzz bench man install uninstall deb clean $(BUILD)/rocesteer \
	$(BUILD)/rocesteer-perf
