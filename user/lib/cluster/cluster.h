/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cluster file, which has the parts of a fabric and their owners; and slices as the hosts
 * of a job see them.
 */
#ifndef ROCESTEER_LIB_CLUSTER_H
#define ROCESTEER_LIB_CLUSTER_H

#include "cluster_addr.h"
#include "cluster_file.h"
#include "job_slice.h"
#include "ocs_driver.h"

#endif /* ROCESTEER_LIB_CLUSTER_H */
