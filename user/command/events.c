// SPDX-License-Identifier: GPL-2.0
#include "events.h"

const struct out_column event_columns[] = {
	{ "time", "" },
	{ "event", "" },
	{ "job", "job" },
	{ "name", "name" },
	{ "cgroup", "cgroup" },
	{ "device", "device" },
	{ "leaf", "leaf" },
	{ "path", "path" },
	{ "via", "via" },
	{ "router", "router" },
	{ "peer", "peer" },
	{ "dqpn", "dqpn" },
	{ "sqpn", "sqpn" },
	{ "rdma_device", "rdma" },
	{ "pid", "pid" },
	{ "mtu", "mtu" },
	{ "flows", "flows" },
	{ "pieces", "pieces" },
	{ "written", "written" },
	{ "moved", "moved" },
	{ "cause", "cause" },
	{ "hold_ms", "hold_ms" },
	{ "file", "file" },
	{ "jobs", "jobs" },
	{ "loss", "loss" },
	{ "probes", "probes" },
	{ "answers", "answers" },
	{ "message", "" },
	{}
};
