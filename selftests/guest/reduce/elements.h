/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Elements that ranks reduce, and what has to come of them: the arithmetic of the compiler
 * and the CPU. Nothing here is the module's.
 */
#ifndef REDUCE_ELEMENTS_H
#define REDUCE_ELEMENTS_H

#include <linux/types.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum type { INT32, FP32, BF16, FP16 };
enum op { SUM, MIN, MAX };

/**
 * struct format - elements of a type, and which of them are inputs
 * @name: of the type
 * @bytes: of an element
 * @mantissa: bits
 * @exponent: the least biased exponent of an input. Sums of numbers so different depend on
 *	their order
 * @exponents: how many there are
 * @nan: what every result is that is no number
 * @special: zeros, infinities, no numbers, the smallest and the largest
 */
struct format {
	const char *name;
	size_t bytes;
	unsigned int mantissa;
	unsigned int exponent;
	unsigned int exponents;
	__u32 nan;
	__u32 special[8];
};

static const struct format formats[] = {
	[INT32] = { "int32", 4, 0, 0, 0, 0, {} },
	[FP32] = { "fp32", 4, 23, 115, 24, 0x7fc00000,
		   { 0, 0x80000000, 0x7f800000, 0xff800000, 0xffc01234, 0x7f800001,
		     0x80000001, 0x7f7fffff } },
	[BF16] = { "bf16", 2, 7, 115, 24, 0x7fc0,
		   { 0, 0x8000, 0x7f80, 0xff80, 0xffc5, 0x7f81, 0x8001, 0x7f7f } },
	[FP16] = { "fp16", 2, 10, 2, 26, 0x7e00,
		   { 0, 0x8000, 0x7c00, 0xfc00, 0xfe05, 0x7c01, 0x8001, 0x7bff } },
};

static const char *const op_names[] = { [SUM] = "sum", [MIN] = "min", [MAX] = "max" };

static inline __u32 element_get(const void *data, size_t bytes, size_t i)
{
	return bytes == 4 ? ((const __u32 *)data)[i] : ((const __u16 *)data)[i];
}

static inline void element_set(void *data, size_t bytes, size_t i, __u32 element)
{
	if (bytes == 4)
		((__u32 *)data)[i] = element;
	else
		((__u16 *)data)[i] = element;
}

static inline __u32 element_hash(__u32 rank, __u32 i, __u32 iteration)
{
	__u32 x = i * 0x9e3779b1u ^ (rank + 1) * 0x85ebca6bu ^ (iteration + 1) * 0xc2b2ae35u;

	x = (x ^ x >> 15) * 0x2c1b3c6du;
	x = (x ^ x >> 12) * 0x297a2d39u;
	return x ^ x >> 15;
}

/* Element @i of a rank's input. */
static inline __u32 element_input(enum type type, __u32 rank, __u32 i, __u32 iteration)
{
	const struct format *format = &formats[type];
	__u32 x = element_hash(rank, i, iteration), sign, exponent, mantissa;

	if (type == INT32)
		return x;
	if (!(x >> 8 & 0xff))
		return format->special[x & 7];
	sign = x >> 31 << (8 * format->bytes - 1);
	exponent = format->exponent + (x >> 23 & 0xff) % format->exponents;
	mantissa = x & ((1u << format->mantissa) - 1);
	return sign | exponent << format->mantissa | mantissa;
}

static inline float element_value(enum type type, __u32 element)
{
	__u16 half = element;
	_Float16 fp16;
	float value;

	if (type == FP16) {
		memcpy(&fp16, &half, sizeof(fp16));
		return fp16;
	}
	if (type == BF16)
		element <<= 16;
	memcpy(&value, &element, sizeof(value));
	return value;
}

/* Round to nearest, ties to even. */
static inline __u32 element_of(enum type type, float value)
{
	_Float16 fp16 = value;
	__u32 element;
	__u16 half;

	if (isnan(value))
		return formats[type].nan;
	memcpy(&element, &value, sizeof(element));
	memcpy(&half, &fp16, sizeof(half));
	if (type == FP16)
		return half;
	if (type == BF16)
		return (element + 0x7fff + (element >> 16 & 1)) >> 16;
	return element;
}

/* IEEE 754-2019, 9.6: minimum and maximum */
static inline float value_combine(enum op op, float a, float b)
{
	if (op == SUM)
		return a + b;
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return signbit(a) == (op == MIN) ? a : b;
	return (a < b) == (op == MIN) ? a : b;
}

static inline __u32 int_combine(enum op op, __u32 a, __u32 b)
{
	if (op == SUM)
		return a + b;
	return ((__s32)a < (__s32)b) == (op == MIN) ? a : b;
}

/* Two elements, rounded. */
static inline __u32 element_combine(enum type type, enum op op, __u32 a, __u32 b)
{
	if (type == INT32)
		return int_combine(op, a, b);
	return element_of(type, value_combine(op, element_value(type, a), element_value(type, b)));
}

#endif /* REDUCE_ELEMENTS_H */
