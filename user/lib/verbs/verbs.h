/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices, by libibverbs. */
#ifndef ROCESTEER_LIB_VERBS_H
#define ROCESTEER_LIB_VERBS_H

#include "nic_device.h"

#endif /* ROCESTEER_LIB_VERBS_H */
