/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels, 6.12 to 7.2. Each entry names the kernels that
 * need it.
 */
#ifndef ROCESTEER_COMPAT_H
#define ROCESTEER_COMPAT_H

#include <linux/btf.h>
#include <linux/slab.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#error "rocesteer needs Linux 6.12 or later"
#endif

#if !IS_ENABLED(CONFIG_64BIT) || !IS_ENABLED(CONFIG_CGROUPS) || \
	!IS_ENABLED(CONFIG_DEBUG_INFO_BTF_MODULES) || \
	!IS_ENABLED(CONFIG_NETFILTER) || !IS_ENABLED(CONFIG_IPV6) || \
	!IS_ENABLED(CONFIG_KPROBES) || !IS_ENABLED(CONFIG_KRETPROBES) || \
	IS_ENABLED(CONFIG_PREEMPT_RT)
/*
 * 32 bit: cgroup ids are reused. PREEMPT_RT: kprobe handlers run with preemption off, where
 * spinlock_t and kmalloc() are not allowed.
 */
#error "rocesteer needs 64 bit, cgroups, netfilter, IPv6, kretprobes, module BTF, not RT"
#endif

/* Needed up to 6.18. Gone from 7.1 (2026-06), where all kfunc arguments are trusted. */
#ifndef KF_TRUSTED_ARGS
#define KF_TRUSTED_ARGS 0
#endif

/* New in 7.0 (2026-04) and in about 6.12.100. */
#ifndef kzalloc_obj
#define kzalloc_obj(object, gfp) kzalloc(sizeof(object), gfp)
#endif

#endif /* ROCESTEER_COMPAT_H */
