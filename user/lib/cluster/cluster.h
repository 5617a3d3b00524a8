/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cluster file: what a fabric has and who owns what of it; and what a host of a job
 * needs to know of that.
 */
#ifndef ROCESTEER_LIB_CLUSTER_H
#define ROCESTEER_LIB_CLUSTER_H

#include "cluster_addr.h"
#include "cluster_file.h"
#include "job_slice.h"
#include "ocs_driver.h"

#endif /* ROCESTEER_LIB_CLUSTER_H */
