/* SPDX-License-Identifier: GPL-2.0 */
/* MPI's types and operations, as switches name them. */
#ifndef ROCESTEER_MPI_KIND_H
#define ROCESTEER_MPI_KIND_H

#include <mpi.h>
#include <stdbool.h>
#include <linux/types.h>

/**
 * struct kind - type and operation of a call
 * @index: number of type and operation, below PORT_PARTS
 * @size: bytes of an element of MPI
 * @type: enum rocesteer_reduce_type
 * @op: enum rocesteer_reduce_op
 */
struct kind {
	__u32 index;
	__u32 size;
	__u32 type;
	__u32 op;
};

/* Learn which handles this MPI has, after MPI_Init(). */
void kind_init(void);

/* Bytes of an element of MPI; 0: switches do not know the type. */
__u32 kind_size(MPI_Datatype datatype);

/* Fill @kind. Return: false, if switches do not know the operation. */
bool kind_of(MPI_Datatype datatype, MPI_Op op, struct kind *kind);

#endif /* ROCESTEER_MPI_KIND_H */
