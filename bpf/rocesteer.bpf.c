// SPDX-License-Identifier: GPL-2.0
/*
 * All programs as one object, which shares tables and functions. One translation
 * unit: libbpf 1.5 links no two objects that call the same kfunc, and bpf_for() is one
 * ("failed to resolve size of underlying type").
 */
#include "deal.bpf.c"
#include "egress.bpf.c"
#include "ingress.bpf.c"
#include "chunk.bpf.c"
#include "plan.bpf.c"
#include "policy.bpf.c"
#include "expire.bpf.c"

char _license[] SEC("license") = "GPL";
