// SPDX-License-Identifier: GPL-2.0
#include "data.h"

#include <string.h>

/* Sums of LAYOUT_MAX_RANKS products of these are below 2^24. */
#define FLOAT_WEIGHTS	63u
#define FLOAT_VALUES	64u

const char * const data_types[] = {
	[DATA_INT32] = "int32",
	[DATA_FLOAT32] = "float32",
	NULL
};

void data_add(enum data_type type, void *to, const void *from, __u64 elements)
{
	const float *floats = from;
	const __u32 *ints = from;
	__u64 i;

	if (type == DATA_FLOAT32)
		for (i = 0; i < elements; i++)
			((float *)to)[i] += floats[i];
	else
		for (i = 0; i < elements; i++)
			((__u32 *)to)[i] += ints[i];
}

/* murmur3's last step: every bit of the input turns half of the output. */
static __u32 mix(__u32 x)
{
	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	return x ^ x >> 16;
}

static __u32 weight_of(enum data_type type, __u32 rank)
{
	__u32 x = mix(rank + 1);

	return type == DATA_FLOAT32 ? 1 + x % FLOAT_WEIGHTS : x;
}

static __u32 total_weight(const struct layout *layout, enum data_type type)
{
	__u32 total = 0, rank;

	for (rank = 0; rank < layout->ranks; rank++)
		total += weight_of(type, rank);
	return total;
}

/* Element @i of a rank with @weight, as bits. */
static __u32 element(enum data_type type, __u32 weight, __u64 i)
{
	__u32 value = mix(i ^ i >> 32), bits;
	float number;

	if (type == DATA_INT32)
		return weight * (value | 1);
	number = (float)(weight * (1 + value % FLOAT_VALUES));
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static void fill(enum data_type type, __u32 weight, __u32 *window, struct range range)
{
	__u64 i;

	for (i = range.from; i < range.to; i++)
		window[i] = element(type, weight, i);
}

void data_fill(const struct layout *layout, enum data_type type, __u32 rank, void *window)
{
	const struct chunk_collective *of = &layout->plan->of;
	bool gather = of->kind == CHUNK_ALL_GATHER;
	__u32 i;

	/* NaN; as an integer it stands out. */
	memset(window, 0xff, layout->elements * ELEMENT);
	for (i = 0; i < of->chunks; i++)
		fill(type, weight_of(type, rank), window,
		     layout_range(layout, rank, i, gather ? layout->legs : 0));
}

static __u64 check(enum data_type type, __u32 weight, const __u32 *window, struct range range)
{
	__u64 wrong = 0, i;

	for (i = range.from; i < range.to; i++)
		wrong += window[i] != element(type, weight, i);
	return wrong;
}

/* After an All-Gather each part is as its owner had it. */
static __u64 check_gathered(const struct layout *layout, enum data_type type,
			    const void *window, __u32 chunk)
{
	__u64 wrong = 0;
	__u32 rank;

	for (rank = 0; rank < layout->ranks; rank++)
		wrong += check(type, weight_of(type, rank), window,
			       layout_range(layout, rank, chunk, layout->legs));
	return wrong;
}

/* After an All-to-All a block is as its sender had it where it had the block for @rank. */
static __u64 check_swapped(const struct layout *layout, enum data_type type, __u32 rank,
			   const __u32 *window, __u32 chunk)
{
	struct range range = layout_range(layout, rank, chunk, 0);
	__u64 block = (range.to - range.from) / layout->ranks, wrong = 0, i;
	__u32 source;

	for (source = 0; source < layout->ranks; source++)
		for (i = 0; i < block; i++)
			wrong += window[range.from + source * block + i] !=
				 element(type, weight_of(type, source),
					 range.from + rank * block + i);
	return wrong;
}

__u64 data_check(const struct layout *layout, enum data_type type, __u32 rank, const void *window)
{
	const struct chunk_collective *of = &layout->plan->of;
	__u32 total = total_weight(layout, type), i;
	__u64 wrong = 0;

	for (i = 0; i < of->chunks; i++)
		switch (of->kind) {
		case CHUNK_ALL_REDUCE:
			wrong += check(type, total, window, layout_range(layout, rank, i, 0));
			break;
		case CHUNK_REDUCE_SCATTER:
			wrong += check(type, total, window,
				       layout_range(layout, rank, i, layout->legs));
			break;
		case CHUNK_ALL_GATHER:
			wrong += check_gathered(layout, type, window, i);
			break;
		case CHUNK_ALL_TO_ALL:
			wrong += check_swapped(layout, type, rank, window, i);
			break;
		}
	return wrong;
}
