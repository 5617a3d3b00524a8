// SPDX-License-Identifier: GPL-2.0
#include "kind.h"

#include "port.h"
#include "reduce/reduce.h"

/* Types of MPI that are one of ours; some have no handle where there is no Fortran. */
static struct {
	MPI_Datatype datatype;
	__u32 type;
	__u32 size;
	int parts;	/* a complex number is two, and its sum the sums of both */
} types[24];

static unsigned int nr_types;

static const __u32 numbers[] = {
	ROCESTEER_REDUCE_TYPE_INT32, ROCESTEER_REDUCE_TYPE_INT64,
	ROCESTEER_REDUCE_TYPE_FP32, ROCESTEER_REDUCE_TYPE_FP64,
};

/* An integer or a number with a fraction, of 4 or 8 bytes as this MPI has it, or two of them */
static void add_parts(MPI_Datatype datatype, bool fraction, int parts)
{
	int size;

	if (datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size) ||
	    (size != 4 * parts && size != 8 * parts))
		return;
	types[nr_types].datatype = datatype;
	types[nr_types].size = size;
	types[nr_types].parts = parts;
	types[nr_types++].type = 2 * fraction + (size == 8 * parts);
}

static void add(MPI_Datatype datatype, bool fraction)
{
	add_parts(datatype, fraction, 1);
}

void kind_init(void)
{
	nr_types = 0;
	add(MPI_DOUBLE, true);
	add(MPI_FLOAT, true);
	add(MPI_INT, false);
	add(MPI_LONG, false);
	add(MPI_LONG_LONG, false);
	add(MPI_INT32_T, false);
	add(MPI_INT64_T, false);
	add(MPI_INTEGER, false);
	add(MPI_REAL, true);
	add(MPI_DOUBLE_PRECISION, true);
	add(MPI_INTEGER4, false);
	add(MPI_INTEGER8, false);
	add(MPI_REAL4, true);
	add(MPI_REAL8, true);
	add_parts(MPI_C_FLOAT_COMPLEX, true, 2);
	add_parts(MPI_C_DOUBLE_COMPLEX, true, 2);
	add_parts(MPI_COMPLEX, true, 2);
	add_parts(MPI_DOUBLE_COMPLEX, true, 2);
}

/* Index in @types, or -1 */
static int find(MPI_Datatype datatype)
{
	unsigned int i;

	for (i = 0; i < nr_types; i++)
		if (types[i].datatype == datatype)
			return i;
	return -1;
}

__u32 kind_size(MPI_Datatype datatype)
{
	int i = find(datatype);

	return i < 0 ? 0 : types[i].size;
}

static int op_of(MPI_Op op)
{
	if (op == MPI_SUM)
		return ROCESTEER_REDUCE_OP_SUM;
	if (op == MPI_MIN)
		return ROCESTEER_REDUCE_OP_MIN;
	return op == MPI_MAX ? ROCESTEER_REDUCE_OP_MAX : -1;
}

bool kind_of(MPI_Datatype datatype, MPI_Op op, struct kind *kind)
{
	int i = find(datatype), number = op_of(op);
	__u32 type;

	/* MPI refuses the least of complex numbers. */
	if (i < 0 || number < 0 || (types[i].parts > 1 && number != ROCESTEER_REDUCE_OP_SUM))
		return false;
	type = types[i].type;
	*kind = (struct kind) {
		.index = type * (PORT_PARTS / ARRAY_SIZE(numbers)) + number,
		.size = types[i].size,
		.type = numbers[type],
		.op = number,
	};
	return true;
}
