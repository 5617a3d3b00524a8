// SPDX-License-Identifier: GPL-2.0
/* All-Reduces of a rank, and what comes of them. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "ranks.h"

static bool is_due(const struct event *event)
{
	return event->rank == (int)self && event->message == sent;
}

static void events(void)
{
	char line[16];

	if (is_due(&straggle))
		usleep(straggle.ms * 1000);
	if (is_due(&death))
		raise(SIGKILL);
	if (is_due(&hold)) {
		if (write(STDOUT_FILENO, "held\n", 5) != 5 ||
		    read(STDIN_FILENO, line, sizeof(line)) <= 0)
			err(SETUP, "hold");
	}
}

static enum outcome net_reduce(void)
{
	size_t size = mtu * (odd.rank == (int)self ? odd.message : packets);
	size_t messages = (bytes + size - 1) / size, at;
	unsigned long base = received, sent_before = sent, done = completed;
	enum outcome outcome;

	while (received - base < messages || completed - done < messages) {
		while (sent - sent_before < messages &&
		       sent - sent_before < received - base + window) {
			at = (sent - sent_before) * size;
			events();
			post(in + at, bytes - at < size ? bytes - at : size, at);
		}
		outcome = progress();
		if (outcome)
			return outcome;
	}
	return RIGHT;
}

/* Where a ring's chunk begins, in elements. */
static size_t chunk_begin(unsigned int chunk)
{
	return count * chunk / nr_ranks;
}

static size_t chunk_bytes(unsigned int chunk)
{
	return (chunk_begin(chunk + 1) - chunk_begin(chunk)) * element;
}

/* Where the chunk arrives that a rank receives in step @step, behind the result. */
static size_t scratch_offset(unsigned int step)
{
	return scratch - out + step * ((count + nr_ranks - 1) / nr_ranks + 1) * element;
}

static void chunk_add(unsigned int chunk, const char *more)
{
	size_t i, begin = chunk_begin(chunk), end = chunk_begin(chunk + 1);

	for (i = begin; i < end; i++)
		element_set(out, element, i,
			    element_combine(type, op, element_get(more, element, i - begin),
					    element_get(out, element, i)));
}

/* Reduce-scatter, then all-gather. */
static enum outcome ring_reduce(void)
{
	unsigned int step, half = nr_ranks - 1, chunk;
	unsigned long base = received, done = completed;
	enum outcome outcome;
	size_t begin;

	memcpy(out, in, bytes);
	for (step = 0; step < 2 * half; step++) {
		chunk = (self + 2 * nr_ranks - step) % nr_ranks;
		if (step >= half)
			chunk = (self + 1 + 2 * nr_ranks - (step - half)) % nr_ranks;
		begin = chunk_begin(chunk) * element;
		post(out + begin, chunk_bytes(chunk), step < half ? scratch_offset(step) : begin);
		while (received - base <= step) {
			outcome = progress();
			if (outcome)
				return outcome;
		}
		if (step < half)
			chunk_add((self + 2 * nr_ranks - step - 1) % nr_ranks,
				  out + scratch_offset(step));
	}
	while (completed - done < 2 * half) {
		outcome = progress();
		if (outcome)
			return outcome;
	}
	return RIGHT;
}

/* In this order, rounded once */
static __u32 combined(const __u32 *in, unsigned int n)
{
	float value = element_value(type, in[0]);
	__u32 sum = in[0];
	unsigned int r;

	for (r = 1; r < n; r++)
		if (type == INT32)
			sum = int_combine(op, sum, in[r]);
		else
			value = value_combine(op, value, element_value(type, in[r]));
	return type == INT32 ? sum : element_of(type, value);
}

/* In the order of ranks: of each leaf, then of the leaves */
static __u32 net_expected(size_t i)
{
	unsigned int r, step = per_leaf ?: 1, n = 0;
	__u32 in[MAX_RANKS];

	for (r = 0; r < nr_ranks; r++)
		in[r] = element_get(input(r), element, i);
	for (r = 0; r < nr_ranks; r += step)
		in[n++] = combined(in + r, step);
	return combined(in, n);
}

/* From the rank that has the number of the chunk, rounded each time */
static __u32 ring_expected(unsigned int chunk, size_t i)
{
	__u32 sum = element_get(input(chunk), element, i);
	unsigned int r;

	for (r = 1; r < nr_ranks; r++)
		sum = element_combine(type, op, sum,
				      element_get(input((chunk + r) % nr_ranks), element, i));
	return sum;
}

/* Each rank finds out what a part of the result has to be. */
static void expect(bool ring)
{
	size_t i;

	for (i = chunk_begin(self); i < chunk_begin(self + 1); i++)
		element_set(expected(), element, i,
			    ring ? ring_expected(self, i) : net_expected(i));
}

static void verdict_element(struct verdict *verdict, size_t i, bool all)
{
	__u32 blank = element == 4 ? POISON * 0x01010101u : POISON * 0x0101u;
	__u32 is = element_get(out, element, i);

	if (is == element_get(expected(), element, i)) {
		verdict->right++;
	} else if (is == blank && !all) {
		verdict->blank++;
	} else {
		verdict->wrong++;
		verdict->raw += is == element_get(input(rank_before()), element, i);
	}
}

/* @all: all elements must have arrived */
static void verify(struct verdict *verdict, unsigned int iteration, bool all)
{
	size_t i;

	for (i = 0; i < count; i++) {
		verdict_element(verdict, i, all);
		verdict->changed += element_get(in, element, i) !=
				    element_input(type, self, i, iteration);
	}
	for (i = bytes; i < bytes + GUARD; i++)
		verdict->changed += (unsigned char)out[i] != POISON;
}

static void prepare(unsigned int iteration)
{
	size_t i;

	for (i = 0; i < count; i++)
		element_set(in, element, i, element_input(type, self, i, iteration));
	memset(out, POISON, bytes + GUARD);
	barrier();
}

static enum outcome reduce(unsigned int iteration, bool ring, struct verdict *verdict)
{
	enum outcome outcome;
	unsigned long begin;

	expect(ring);
	barrier();
	begin = now_ms();
	outcome = ring ? ring_reduce() : net_reduce();
	/* A rank that leaves acknowledges nothing any more. */
	barrier();
	if (!self)
		shared->ms += now_ms() - begin;
	verify(verdict, iteration, !outcome);
	barrier();
	return outcome;
}

/* All ranks do so when one has failed. */
static enum outcome fall_back(unsigned int iteration)
{
	barrier();
	shared->failed = 0;
	connections_end();
	connections_make(false);
	memset(out, POISON, bytes + GUARD);
	return reduce(iteration, true, &shared->rank[self].ring);
}

enum outcome rank_run(void)
{
	bool ring = !strcmp(mode, "ring");
	enum outcome outcome = RIGHT;
	unsigned int i;

	device_open();
	connections_make(!strcmp(mode, "net"));
	for (i = 0; i < iterations && !shared->failed; i++) {
		prepare(i);
		outcome = reduce(i, ring, &shared->rank[self].net);
	}
	if (shared->failed && *fallback && fall_back(i - 1))
		outcome = FALLBACK;
	return outcome;
}
