/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The port of a rank for a communicator: an RDMA device with a completion queue, registered
 * buffers, and the connections of groups. Nothing of MPI.
 */
#ifndef ROCESTEER_MPI_PORT_H
#define ROCESTEER_MPI_PORT_H

#include "ring/ring.h"
#include "verbs/verbs.h"

/* Bytes that are reduced at a time, whole elements and packets */
#define PORT_BYTES	(2u << 20)

/* Connections, one for each type and operation */
#define PORT_PARTS	12u

/**
 * struct port - port of a rank
 * @nic: its device; @in is registered as its memory
 * @err: the last failure
 * @in: input
 * @out: results
 * @results: memory region of @out
 * @part: connections that completions are for, or NULL
 * @round: counts connections, so that completions of earlier ones are not taken for others
 */
struct port {
	struct nic_device nic;
	struct err err;
	void *in;
	void *out;
	struct ibv_mr *results;
	struct netreduce *part[PORT_PARTS];
	__u32 round;
};

/**
 * port_open() - open a device, and register buffers
 * @port: zeroed; to be closed, also after a failure
 * @device: name, or NULL: the first with a GID of RoCE v2
 * @timeout: ns after which queue pairs may give up
 *
 * Return: 0, or a negative errno with @port->err set.
 */
int port_open(struct port *port, const char *device, __u64 timeout);

void port_close(struct port *port);

/* Create the queue pairs of a connection, for completions. Return: as port_open(). */
int port_attach(struct port *port, __u32 index, struct netreduce *part, const struct group *group);

/* Destroy the queue pairs. */
void port_detach(struct port *port, __u32 index);

/* Handle completions. Return: whether there were any. */
bool port_poll(struct port *port);

#endif /* ROCESTEER_MPI_PORT_H */
