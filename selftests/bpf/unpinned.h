/* SPDX-License-Identifier: GPL-2.0 */
/* The programs for a test or a benchmark: loaded, not pinned. */
#ifndef UNPINNED_H
#define UNPINNED_H

#include <stdbool.h>

#include <bpf/libbpf.h>

#include "rocesteer.skel.h"
#include "../../include/rocesteer/icrc.h"

/**
 * load_table() - load the programs with tables of their own
 * @module: call the module where it is loaded
 * @nr_flows: flows that the table has room for; 0: the default
 * @sweep_ns: time between two sweeps for silent flows, once one began; 0: the default
 * @bth_paths: bits that carry the number of a flow's paths; 0: the default
 *
 * Return: the skeleton, NULL with errno set on failure.
 */
static inline struct rocesteer_bpf *load_table(bool module, __u32 nr_flows,
					       __u64 sweep_ns,
					       __u32 bth_paths)
{
	struct rocesteer_bpf *skel = rocesteer_bpf__open();
	struct bpf_map *map;

	if (!skel)
		return NULL;
	bpf_object__for_each_map(map, skel->obj)
		bpf_map__set_pin_path(map, NULL);
	rocesteer_icrc_tables(skel->bss->rs_icrc);
	skel->rodata->rs_use_module = module;
	if (nr_flows)
		bpf_map__set_max_entries(skel->maps.rs_flows, nr_flows);
	if (sweep_ns)
		skel->rodata->rs_sweep_ns = sweep_ns;
	if (bth_paths)
		skel->rodata->rs_bth_paths = bth_paths;
	bpf_program__set_autoload(skel->progs.rocesteer_flow_add, false);
	bpf_program__set_autoload(skel->progs.rocesteer_flow_del, false);
	bpf_program__set_autoload(skel->progs.rocesteer_source_port, false);
	bpf_map__set_autocreate(skel->maps.rs_policy, false);
	if (!rocesteer_bpf__load(skel))
		return skel;
	rocesteer_bpf__destroy(skel);
	return NULL;
}

/* Load the programs with tables of their own, and all else as by default. */
static inline struct rocesteer_bpf *load_unpinned(bool module)
{
	return load_table(module, 0, 0, 0);
}

#endif /* UNPINNED_H */
