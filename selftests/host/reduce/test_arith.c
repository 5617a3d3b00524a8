// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of a switch that reduces, compiled for user space: with the FPU and
 * without, compared bit for bit with sums of floats and doubles, and with conversions of 16 bits
 * that are written after the definition of the formats.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

static bool fpu_usable, fpu_on;
static unsigned int fpu_wrong;

static bool irq_fpu_usable(void)
{
	return fpu_usable;
}

static void kernel_fpu_begin(void)
{
	fpu_wrong += !fpu_usable || fpu_on;
	fpu_on = true;
}

static void kernel_fpu_end(void)
{
	fpu_wrong += !fpu_on;
	fpu_on = false;
}

#define CONFIG_X86_64 1
#include "../../../kmod/reduce/arith.c"
#include "../../random.h"
#include "../../ktap.h"

#define RANKS	8
#define BYTES	4096
#define ROUNDS	400	/* payloads at random, for each type and operation */

/* IEEE 754 binary interchange formats: bits of the fraction, and of all. */
static const struct format {
	const char *name;
	unsigned int fraction;
	unsigned int width;
	__u64 nan;
} formats[] = {
	[ROCESTEER_REDUCE_TYPE_INT32] = { "int32", 23, 32, 0 },	/* patterns as fp32 has */
	[ROCESTEER_REDUCE_TYPE_FP32] = { "fp32", 23, 32, 0x7fc00000 },
	[ROCESTEER_REDUCE_TYPE_BF16] = { "bf16", 7, 16, 0x7fc0 },
	[ROCESTEER_REDUCE_TYPE_FP16] = { "fp16", 10, 16, 0x7e00 },
	[ROCESTEER_REDUCE_TYPE_INT64] = { "int64", 52, 64, 0 },	/* patterns as fp64 has */
	[ROCESTEER_REDUCE_TYPE_FP64] = { "fp64", 52, 64, 0x7ff8000000000000 },
};

_Static_assert(ARRAY_SIZE(formats) == ROCESTEER_REDUCE_TYPE_MAX + 1, "each type is tested");

static const char * const ops[] = { "sum", "min", "max" };

/* Values of all 16-bit numbers, by decode() */
static float decoded[ARRAY_SIZE(formats)][1 << 16];

static __u8 payload[RANKS][BYTES + 4];
static unsigned int offset;	/* of payloads from an address that is aligned */

static unsigned int exponents(const struct format *f)
{
	return 1U << (f->width - 1 - f->fraction);
}

static int bias(const struct format *f)
{
	return exponents(f) / 2 - 1;
}

static double decode(const struct format *f, __u32 bits)
{
	__u32 fraction = bits & ((1U << f->fraction) - 1);
	__u32 exponent = bits >> f->fraction & (exponents(f) - 1);
	double x;

	if (exponent == exponents(f) - 1)
		x = fraction ? NAN : INFINITY;
	else if (!exponent)
		x = ldexp(fraction, 1 - bias(f) - f->fraction);
	else
		x = ldexp(fraction + (1U << f->fraction), exponent - bias(f) - f->fraction);
	return bits >> (f->width - 1) ? -x : x;
}

/* rint() rounds to nearest even. */
static __u32 encode(const struct format *f, double x)
{
	__u32 sign = signbit(x) ? 1U << (f->width - 1) : 0;
	__u32 infinity = (exponents(f) - 1) << f->fraction;
	int exponent;

	if (isnan(x))
		return f->nan;
	if (isinf(x))
		return sign | infinity;
	if (x == 0)
		return sign;
	exponent = ilogb(x);
	if (exponent < 1 - bias(f))
		exponent = 1 - bias(f);
	/* A leading one adds one to the exponent; a carry of the rounding does, too. */
	x = rint(ldexp(fabs(x), (int)f->fraction - exponent));
	x += ldexp(exponent + bias(f) - 1, f->fraction);
	return sign | (x < infinity ? (__u32)x : infinity);
}

static unsigned int size_of(unsigned int type)
{
	return formats[type].width / 8;
}

static void put(unsigned int type, unsigned int rank, unsigned int i, __u64 bits)
{
	memcpy(payload[rank] + offset + i * size_of(type), &bits, size_of(type));
}

static __u64 get(unsigned int type, const void *from, unsigned int i)
{
	__u64 bits = 0;

	memcpy(&bits, (const __u8 *)from + i * size_of(type), size_of(type));
	return bits;
}

static double value(unsigned int type, __u64 bits)
{
	__u32 low = bits;
	double x;
	float y;

	if (type == ROCESTEER_REDUCE_TYPE_FP64) {
		memcpy(&x, &bits, sizeof(x));
		return x;
	}
	if (type != ROCESTEER_REDUCE_TYPE_FP32)
		return decoded[type][bits];
	memcpy(&y, &low, sizeof(y));
	return y;
}

static __u64 bits_of(unsigned int type, double x)
{
	float y = x;
	__u64 bits;
	__u32 low;

	if (isnan(x))
		return formats[type].nan;
	memcpy(&bits, &x, sizeof(bits));
	memcpy(&low, &y, sizeof(low));
	switch (type) {
	case ROCESTEER_REDUCE_TYPE_FP64:
		return bits;
	case ROCESTEER_REDUCE_TYPE_FP32:
		return low;
	default:
		return encode(&formats[type], x);
	}
}

/* fp64 is added as double, all else as float: a sum of two floats is rounded once by both. */
static double add(unsigned int type, double a, double b)
{
	return type == ROCESTEER_REDUCE_TYPE_FP64 ? a + b : (float)a + (float)b;
}

static bool is_int(unsigned int type)
{
	return type == ROCESTEER_REDUCE_TYPE_INT32 || type == ROCESTEER_REDUCE_TYPE_INT64;
}

static __s64 get_int(unsigned int type, unsigned int rank, unsigned int i)
{
	__u64 bits = get(type, payload[rank] + offset, i);

	return type == ROCESTEER_REDUCE_TYPE_INT32 ? (__s32)bits : (__s64)bits;
}

static __u64 expected_int(unsigned int type, unsigned int op, unsigned int ranks, unsigned int i)
{
	__s64 sum = get_int(type, 0, i);
	unsigned int r;

	for (r = 1; r < ranks; r++) {
		__s64 x = get_int(type, r, i);

		if (op == ROCESTEER_REDUCE_OP_SUM)
			sum = (__u64)sum + (__u64)x;
		else if (op == ROCESTEER_REDUCE_OP_MIN ? x < sum : x > sum)
			sum = x;
	}
	return type == ROCESTEER_REDUCE_TYPE_INT32 ? (__u32)sum : (__u64)sum;
}

static bool is_less(double a, double b)
{
	return a < b || (a == b && signbit(a) && !signbit(b));
}

/* The result of elements @i, by definition. */
static __u64 expected(unsigned int type, unsigned int op, unsigned int ranks, unsigned int i)
{
	unsigned int r;
	double sum;

	if (is_int(type))
		return expected_int(type, op, ranks, i);
	sum = value(type, get(type, payload[0] + offset, i));
	for (r = 1; r < ranks; r++) {
		double x = value(type, get(type, payload[r] + offset, i));

		if (op == ROCESTEER_REDUCE_OP_SUM)
			sum = add(type, sum, x);
		else if (isnan(x) || (op == ROCESTEER_REDUCE_OP_MIN ? is_less(x, sum) :
								      is_less(sum, x)))
			sum = x;
	}
	return bits_of(type, sum);
}

/* Reduce payloads both ways. Return: how many elements, or bytes behind, are wrong. */
static unsigned int count_wrong(unsigned int type, unsigned int op, unsigned int ranks,
				unsigned int bytes)
{
	static __u8 sum[2][BYTES + 4] __aligned(4);
	const void *in[RANKS];
	unsigned int wrong = 0, way, r, i;

	for (r = 0; r < ranks; r++)
		in[r] = payload[r] + offset;
	for (way = 0; way < 2; way++) {
		memset(sum[way], 0xa5, sizeof(sum[way]));
		fpu_usable = way;
		wrong += reduce_arith(type, op, sum[way], in, ranks, bytes) !=
			 (way && bytes >= FPU_BYTES);
		for (i = bytes; i < bytes + 4; i++)
			wrong += sum[way][i] != (i < ((bytes + 3) & ~3U) ? 0 : 0xa5);
	}
	for (i = 0; i < bytes / size_of(type); i++) {
		__u64 right = expected(type, op, ranks, i);

		wrong += get(type, sum[0], i) != right || get(type, sum[1], i) != right;
	}
	return wrong;
}

/* Payloads of some ranks, which are reduced when they are full. */
struct batch {
	unsigned int type;
	unsigned int op;
	unsigned int ranks;
	unsigned int nr;
	unsigned int wrong;
};

static void batch_end(struct batch *b)
{
	if (b->nr)
		b->wrong += count_wrong(b->type, b->op, b->ranks, b->nr * size_of(b->type));
	b->nr = 0;
}

static void batch_add(struct batch *b, const __u64 *bits)
{
	unsigned int r;

	for (r = 0; r < b->ranks; r++)
		put(b->type, r, b->nr, bits[r]);
	if (++b->nr == BYTES / size_of(b->type))
		batch_end(b);
}

/* Zero, subnormal and normal numbers that meet, and round, at ties; infinity and NaN. */
static unsigned int specials(const struct format *f, __u64 *special)
{
	int top = exponents(f) - 1, digits = f->fraction, one = bias(f), e[] = {
		0, 1, 2, digits, digits + 1, digits + 2, one - digits - 1, one - digits,
		one - 1, one, one + 1, top - digits - 2, top - digits - 1, top - 2, top - 1, top,
	};
	__u64 half = 1ULL << (digits - 1), fraction[] = { 0, 1, half, half + 1, 2 * half - 1 };
	unsigned int nr = 0, i, j, sign;

	for (i = 0; i < ARRAY_SIZE(e); i++)
		for (j = 0; j < ARRAY_SIZE(fraction); j++)
			for (sign = 0; sign < 2; sign++)
				special[nr++] = (__u64)sign << (f->width - 1) |
						(__u64)e[i] << digits | fraction[j];
	return nr;
}

static __u64 random_bits(void)
{
	__u64 bits = 0;
	int i;

	for (i = 0; i < 4; i++)
		bits = bits << 16 | random_below(1 << 16);
	return bits;
}

/*
 * Payloads at random, each of numbers of another kind: all bits are random, or
 * exponents are so near that digits meet, or one in eight is special.
 */
static unsigned int random_wrong(unsigned int type, unsigned int op, const __u64 *special,
				 unsigned int nr)
{
	const struct format *f = &formats[type];
	unsigned int wrong = 0, ranks, r, i, round;

	for (round = 0; round < ROUNDS; round++) {
		__u64 lowest = random_below(exponents(f));

		ranks = 2 + random_below(RANKS - 1);
		for (r = 0; r < ranks; r++)
			for (i = 0; i < BYTES / size_of(type); i++) {
				__u64 bits = random_bits() >> (64 - f->width);
				__u64 near = lowest + random_below(4);

				if (round % 3 == 1 && near < exponents(f))
					bits = (bits & ~((exponents(f) - 1ULL) << f->fraction)) |
					       near << f->fraction;
				if (round % 3 == 2 && !random_below(8))
					bits = special[random_below(nr)];
				put(type, r, i, bits);
			}
		wrong += count_wrong(type, op, ranks, BYTES);
	}
	return wrong;
}

static void test_op(unsigned int type, unsigned int op)
{
	struct batch b = { .type = type, .op = op, .ranks = 2 };
	__u64 special[256];
	unsigned int nr = specials(&formats[type], special), i, j;

	for (i = 0; i < nr; i++)
		for (j = 0; j < nr; j++)
			batch_add(&b, (__u64 []){ special[i], special[j] });
	batch_end(&b);
	b.wrong += random_wrong(type, op, special, nr);
	ktap_result(!b.wrong, "%s %s: pairs of %u numbers, and payloads at random: %u wrong",
		    formats[type].name, ops[op], nr, b.wrong);
}

/* Each number of 16 bits, and half of its last place more or less, and a bit of that. */
static void test_rounding(unsigned int type)
{
	const struct format *f = &formats[type];
	struct batch b = { .type = type, .op = ROCESTEER_REDUCE_OP_SUM, .ranks = 3 };
	unsigned int inexact = 0;
	__u32 x;
	int i, j;

	for (x = 0; x < 1U << f->width; x++) {
		__u32 exponent = x >> f->fraction & (exponents(f) - 1);
		double half = ldexp(0.5, (int)(exponent ? exponent : 1) - bias(f) -
				    (int)f->fraction);

		for (i = -1; i <= 1; i++)
			for (j = -1; j <= 1; j++)
				batch_add(&b, (__u64 []){
					x, encode(f, i * half), encode(f, j * half / 1024) });
		inexact += decode(f, encode(f, half)) == half;
	}
	batch_end(&b);
	ktap_result(!b.wrong && inexact > 1U << 15,
		    "%s: each number is rounded to itself, and at %u ties: %u wrong",
		    f->name, inexact, b.wrong);
}

static void test_lengths(void)
{
	static const unsigned int lengths[] = {
		2, 4, 6, 8, 100, 104, 130, 136, 516, 520, 1026, 4088, 4094, 4096,
	};
	unsigned int wrong = 0, type, op, i, r;
	__u8 *byte;

	for (r = 0; r < RANKS; r++)
		for (byte = payload[r]; byte < payload[r] + sizeof(payload[r]); byte++)
			*byte = random_below(256);
	for (offset = 0; offset < 4; offset++)
		for (type = 0; type < ARRAY_SIZE(formats); type++)
			for (op = 0; op < ARRAY_SIZE(ops); op++)
				for (i = 0; i < ARRAY_SIZE(lengths); i++)
					if (lengths[i] % size_of(type) == 0)
						wrong += count_wrong(type, op, RANKS, lengths[i]);
	offset = 0;
	ktap_result(!wrong, "payloads of 2 to 4096 bytes, at any address: %u wrong", wrong);
}

int main(void)
{
	unsigned int type, op, x;

	ktap_begin();
	for (type = ROCESTEER_REDUCE_TYPE_BF16; type <= ROCESTEER_REDUCE_TYPE_FP16; type++)
		for (x = 0; x < 1 << 16; x++)
			decoded[type][x] = decode(&formats[type], x);
	for (type = 0; type < ARRAY_SIZE(formats); type++)
		for (op = 0; op < ARRAY_SIZE(ops); op++)
			test_op(type, op);
	test_rounding(ROCESTEER_REDUCE_TYPE_BF16);
	test_rounding(ROCESTEER_REDUCE_TYPE_FP16);
	test_lengths();
	ktap_result(!fpu_wrong && !fpu_on, "the FPU is used only where it may be: %u wrong",
		    fpu_wrong);
	return ktap_end();
}
