// SPDX-License-Identifier: GPL-2.0
#include "kind.h"

#include "port.h"
#include "reduce/reduce.h"

/* Types of MPI that are one of ours; some have no handle where there is no Fortran. */
static struct {
	MPI_Datatype datatype;
	__u32 type;
} types[24];

static unsigned int nr_types;

static const __u32 numbers[] = {
	ROCESTEER_REDUCE_TYPE_INT32, ROCESTEER_REDUCE_TYPE_INT64,
	ROCESTEER_REDUCE_TYPE_FP32, ROCESTEER_REDUCE_TYPE_FP64,
};

static const __u32 sizes[] = { 4, 8, 4, 8 };

/* An integer or a number with a fraction, of 4 or 8 bytes as this MPI has it */
static void add(MPI_Datatype datatype, bool fraction)
{
	int size;

	if (datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size) ||
	    (size != 4 && size != 8))
		return;
	types[nr_types].datatype = datatype;
	types[nr_types++].type = 2 * fraction + (size == 8);
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
}

static int type_of(MPI_Datatype datatype)
{
	unsigned int i;

	for (i = 0; i < nr_types; i++)
		if (types[i].datatype == datatype)
			return types[i].type;
	return -1;
}

__u32 kind_size(MPI_Datatype datatype)
{
	int type = type_of(datatype);

	return type < 0 ? 0 : sizes[type];
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
	int type = type_of(datatype), number = op_of(op);

	if (type < 0 || number < 0)
		return false;
	*kind = (struct kind) {
		.index = type * (PORT_PARTS / ARRAY_SIZE(numbers)) + number,
		.size = sizes[type],
		.type = reduce_types[numbers[type]],
		.op = reduce_ops[number],
	};
	return true;
}
