# SPDX-License-Identifier: GPL-2.0
#
# make demo     in a guest: a fabric, traffic under several policies, the comparison, and
#               a collective; with options (DEMO="--help") the comparison alone
# make demo-all all policies and traffics on three fabrics, and on broken links: a night;
#               and demo-chunk
# make demo-chunk  collectives over two dimensions, measured against their plans
# make demo-reduce  All-Reduces by a ring, and by a switch that sums
# make check    all tests, what is random or repeats itself a few times: 20 minutes
# make check-all  all tests on both kernels, and all of that
# make check-debug  the module on a kernel that checks itself, 40 minutes; more with
#               DEBUG=RUN[:TEST]
# make fuzz     readers of files and of the network, a minute each (FUZZ_SECONDS=,
#               TARGETS=): selftests/fuzz/run
# make          the commands for this machine: build/rocesteer, rocesteer-perf
# make bench    what steering and placing cost (BENCH=cost|slice|replay|reduce: one of them)
# make module   rocesteer.ko, for hosts, and rocesteer_reduce.ko, for switches, for this
#               machine's kernel (KDIR=, needs its headers)
# make install  command, manual pages, completion, unit, what Slurm loads (PREFIX=,
#               DESTDIR=)

BUILD	?= build
KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
DESTDIR	?=
# For each target of "make fuzz".
FUZZ_SECONDS	?= 60
export FUZZ_SECONDS

MAN	:= $(wildcard Documentation/man/*.rst)

all: $(BUILD)/rocesteer $(BUILD)/rocesteer-perf slurm

bpf:
	$(MAKE) -C bpf BUILD=$(abspath $(BUILD))

# One make for both: they share objects.
$(BUILD)/rocesteer $(BUILD)/rocesteer-perf &: bpf
	$(MAKE) -C user BUILD=$(abspath $(BUILD)) rocesteer rocesteer-perf

# The plugin for Slurm, where its headers are.
slurm:
	$(MAKE) -C packaging/slurm BUILD=$(abspath $(BUILD))

tests: guest
	$(MAKE) -C user BUILD=$(abspath $(BUILD)) tests

# What selftests and benchmarks run in the guest as well.
guest: $(BUILD)/rocesteer $(BUILD)/rocesteer-perf slurm
	$(MAKE) -C selftests BUILD=$(abspath $(BUILD))
	$(MAKE) -C bench BUILD=$(abspath $(BUILD))

# Kernels before 6.13 build a module where its source is: build a copy. Without BTF of
# its own a module loads, but its kfuncs silently do not exist.
module:
	mkdir -p $(BUILD)/module
	cp -ru Kbuild kmod include $(BUILD)/module/
	$(MAKE) -C $(KDIR) M=$(abspath $(BUILD))/module modules
	readelf --sections --wide $(BUILD)/module/kmod/steer/rocesteer.ko | grep -q ' \.BTF ' || \
		{ echo "rocesteer.ko: no .BTF section" >&2; exit 1; }
	cp $(BUILD)/module/kmod/*/rocesteer*.ko $(BUILD)/

demo:
	scripts/deps demo
	demo/run $(DEMO)
	$(if $(DEMO),,demo/chunk.sh 4x2)

demo-all:
	scripts/deps demo
	failed=0; \
	demo/run --policies all --patterns all --hosts 2,3,4 || failed=1; \
	demo/run --keep yes --policies all --patterns all-to-all --hosts 4 --links dead,slow && \
	exit $$failed
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
	scripts/deps check
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

man: $(patsubst Documentation/man/%.rst,$(BUILD)/man/%,$(MAN))

$(BUILD)/man/%: Documentation/man/%.rst
	@mkdir -p $(@D)
	rst2man $< $@

install: all man
	install -D -t $(DESTDIR)$(PREFIX)/sbin $(BUILD)/rocesteer \
		$(BUILD)/rocesteer-perf
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 $(BUILD)/man/*.8
	install -D -m 644 packaging/completion/rocesteer.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocesteer
	ln -sf rocesteer \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/rocesteer-perf
	install -D -t $(DESTDIR)$(PREFIX)/lib/rocesteer \
		packaging/slurm/rocesteer-slurmctld \
		$(wildcard $(BUILD)/slurm/rocesteer.so)
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|/usr/local|$(PREFIX)|' packaging/systemd/rocesteer.service \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/rocesteer.service

clean:
	rm -rf $(BUILD)

.PHONY: all bpf slurm guest tests module demo demo-all demo-chunk demo-reduce check check-all check-debug fuzz bench man install clean $(BUILD)/rocesteer \
	$(BUILD)/rocesteer-perf
