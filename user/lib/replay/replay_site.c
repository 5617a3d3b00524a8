// SPDX-License-Identifier: GPL-2.0
/* Places of jobs, in slices or packed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slice/slice.h"
#include "replay_priv.h"

static int copy_ocs(struct replay_site *site, const struct ocs *ocs)
{
	size_t ports = (size_t)ocs->leaves * ocs->oxcs;

	site->ocs = *ocs;
	site->circuit = calloc(ports, sizeof(*site->circuit));
	if (ocs_init(&site->ocs) || !site->circuit)
		return -ENOMEM;
	memcpy(site->ocs.circuit, ocs->circuit, ports * sizeof(*ocs->circuit));
	memcpy(site->ocs.fixed, ocs->fixed, ports * sizeof(*ocs->fixed));
	memcpy(site->ocs.shut, ocs->shut, (size_t)ocs->leaves * ocs->spines * sizeof(*ocs->shut));
	return 0;
}

int replay_site_init(struct replay_site *site, const struct replay_spec *spec,
		     enum replay_policy policy)
{
	const struct slice_fabric *fabric = spec->fabric;
	size_t servers = (size_t)fabric->leaves *
			 slice_servers_per_leaf(fabric), i;
	size_t pairs = (size_t)fabric->leaves * fabric->spines;
	__u32 g;

	*site = (struct replay_site) {
		.fabric = *fabric, .links = fabric->free_links,
	};
	site->fabric.free_gpus = calloc(servers, sizeof(*fabric->free_gpus));
	site->fabric.free_links = calloc(pairs, sizeof(*fabric->free_links));
	site->busy = calloc(servers, fabric->gpus_per_server);
	if (!site->fabric.free_gpus || !site->fabric.free_links || !site->busy)
		return -ENOMEM;
	for (i = 0; i < servers; i++) {
		site->fabric.free_gpus[i] = fabric->free_gpus[i];
		site->free_gpus += fabric->free_gpus[i];
		for (g = fabric->free_gpus[i]; g < fabric->gpus_per_server; g++)
			site->busy[i * fabric->gpus_per_server + g] = true;
	}
	if (policy == REPLAY_OCS)
		return copy_ocs(site, spec->ocs);
	/* Without links, a packed job is found under a leaf or not at all. */
	if (policy == REPLAY_VCLOS)
		memcpy(site->fabric.free_links, fabric->free_links,
		       pairs * sizeof(*fabric->free_links));
	return 0;
}

void replay_site_free(struct replay_site *site)
{
	free(site->fabric.free_gpus);
	free(site->fabric.free_links);
	free(site->busy);
	free(site->circuit);
	ocs_free(&site->ocs);
}

/* Take GPUs of a leaf, from the servers with most free GPUs first. */
static void take_leaf(const struct slice_fabric *fabric, __u32 leaf,
		      __u32 *gpus, struct slice *slice)
{
	const __u16 *free_gpus = fabric->free_gpus +
				 (size_t)leaf * slice_servers_per_leaf(fabric);
	__u32 want, v;

	for (want = fabric->gpus_per_server; want && *gpus; want--) {
		for (v = 0; v < slice_servers_per_leaf(fabric) && *gpus; v++) {
			__u32 n = want < *gpus ? want : *gpus;

			if (free_gpus[v] != want)
				continue;
			slice->servers[slice->nr_servers++] =
				(struct slice_server) { leaf, v, n };
			*gpus -= n;
		}
	}
}

/* Take leaves with the most free GPUs first. */
static int pack(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice)
{
	bool *taken = calloc(fabric->leaves, sizeof(*taken));
	__u32 leaf;

	if (!taken || slice_make_room(slice, 1, 0, gpus)) {
		free(taken);
		return -ENOMEM;
	}
	while (gpus) {
		__u32 most = 0, best = 0;

		for (leaf = 0; leaf < fabric->leaves; leaf++) {
			__u32 n = taken[leaf] ? 0 : slice_free_on_leaf(fabric, leaf);

			if (n > most) {
				most = n;
				best = leaf;
			}
		}
		taken[best] = true;
		take_leaf(fabric, best, &gpus, slice);
	}
	free(taken);
	return 0;
}

/* Return: 0, an enum slice_refusal, or -ENOMEM. */
static int find(struct replay_site *site, enum replay_policy policy, __u32 gpus,
		struct slice *slice, struct replay_result *result)
{
	int ret;

	if (policy == REPLAY_OCS) {
		ret = ocs_place(&site->fabric, &site->ocs, gpus, slice, site->circuit);
		if (ret)
			return ret;
		result->moved += slice->stage == SLICE_OCS ? slice->objective : 0;
		memcpy(site->ocs.circuit, site->circuit,
		       (size_t)site->ocs.leaves * site->ocs.oxcs *
		       sizeof(*site->circuit));
		return 0;
	}
	ret = slice_place(&site->fabric, gpus, slice);
	if (policy != REPLAY_VCLOS && (ret == SLICE_NO_NETWORK || ret == SLICE_NO_LOCALITY))
		ret = pack(&site->fabric, gpus, slice);
	return ret;
}

/* Take or give the links of a slice, with all of their pairs. */
static void use_links(struct replay_site *site, const struct slice *slice, bool use)
{
	struct slice_fabric *fabric = &site->fabric;
	__u32 n = 0, i, j;

	if (!slice->nr_spines)
		return;
	for (i = 0; i < slice->nr_leaves; i++) {
		for (j = 0; j < slice->nr_spines; j++) {
			__u32 leaf = slice->leaves[i], u;
			size_t pair = (size_t)leaf * fabric->spines +
				      slice->spines[j], port;

			if (!slice->oxcs) {
				fabric->free_links[pair] =
					use ? 0 : site->links[pair];
				continue;
			}
			for (u = 0; u < slice->lane_links[i]; u++) {
				port = ocs_port(&site->ocs, leaf, slice->oxcs[n++]);
				site->ocs.fixed[port] = use;
			}
			site->ocs.shut[pair] = use;
		}
	}
}

/* Take GPUs of a server, the first ones that are free. */
static void take_gpus(struct replay_site *site, const struct slice_server *server, __u32 *gpu)
{
	__u32 each = site->fabric.gpus_per_server, left = server->gpus, at;

	at = server->leaf * site->fabric.gpus_per_leaf + server->server * each;
	site->fabric.free_gpus[at / each] -= left;
	site->free_gpus -= left;
	for (; left; at++) {
		if (site->busy[at])
			continue;
		site->busy[at] = true;
		*gpu++ = at;
		left--;
	}
}

int replay_site_take(struct replay_site *site, enum replay_policy policy,
		     __u32 gpus, struct replay_place *place,
		     struct replay_result *result)
{
	struct slice *slice = &place->slice;
	__u32 n = 0, i;
	int ret;

	if (gpus > site->free_gpus)
		return 0;
	ret = find(site, policy, gpus, slice, result);
	if (ret > 0)
		return 0;
	place->gpu = calloc(gpus, sizeof(*place->gpu));
	if (ret < 0 || !place->gpu) {
		slice_free(slice);
		free(place->gpu);
		return -ENOMEM;
	}
	use_links(site, slice, true);
	for (i = 0; i < slice->nr_servers; i++) {
		take_gpus(site, &slice->servers[i], place->gpu + n);
		n += slice->servers[i].gpus;
	}
	return 1;
}

void replay_site_give(struct replay_site *site, struct replay_place *place)
{
	__u32 each = site->fabric.gpus_per_server, n = 0, i, j;
	struct slice *slice = &place->slice;

	use_links(site, slice, false);
	for (i = 0; i < slice->nr_servers; i++) {
		for (j = 0; j < slice->servers[i].gpus; j++, n++) {
			site->busy[place->gpu[n]] = false;
			site->fabric.free_gpus[place->gpu[n] / each]++;
		}
	}
	site->free_gpus += n;
	slice_free(slice);
	free(place->gpu);
}
