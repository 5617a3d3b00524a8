// SPDX-License-Identifier: GPL-2.0
#include "hash_learn.h"

#include <string.h>
#include <rocesteer/roce.h>

#include "base/base.h"

#define ATTEMPTS	3	/* rounds of a stage in which some ports get no answer */
#define COSET_ASKS	4	/* of a round */
#define COSET_ATTEMPTS	3	/* to get an answer */

static struct hash_ask *ask(struct hash_learn *learn, __u16 port, __u32 dqpn)
{
	struct hash_ask *new = &learn->ask[learn->nr++];

	*new = (struct hash_ask) { .port = port, .dqpn = dqpn };
	learn->asked++;
	return new;
}

static void meet(struct hash_learn *learn, __u16 port)
{
	if (learn->nr_met < HASH_MAX_MET)
		learn->met[learn->nr_met++] = port;
}

static void enter(struct hash_learn *learn, enum hash_stage stage)
{
	learn->stage = stage;
	learn->attempts = 0;
}

/* Ask the vectors that have no answer yet. */
static void ask_vectors(struct hash_learn *learn)
{
	unsigned int i;

	for (i = 0; i < HASH_PORT_BITS; i++)
		if (!learn->known[i])
			ask(learn, learn->model.base ^ learn->vector[i], 0);
}

/*
 * A vector without an answer may lead to a router that never answers: another one is added to it,
 * which leads to another router than the base. Return: false if there is none.
 */
static bool change_vector(struct hash_learn *learn, unsigned int i)
{
	unsigned int k, from = xorshift32(&learn->seed) % HASH_PORT_BITS;

	for (k = 0; k < HASH_PORT_BITS; k++) {
		unsigned int other = (from + k) % HASH_PORT_BITS;

		if (!learn->known[other] || learn->added[other] >= 0 ||
		    hash_router_same(&learn->seen[other], &learn->model.router[0]))
			continue;
		learn->added[i] = other;
		learn->vector[i] = 1 << i ^ 1 << other;
		return true;
	}
	return false;
}

/*
 * The router of a vector is new: so are those of all its coset. Few are asked at once, as a hash
 * that is not linear shows soon.
 */
static void ask_coset(struct hash_learn *learn)
{
	const struct hash_model *model = &learn->model;
	unsigned int half = hash_model_size(model), v;

	for (v = 1; v < half && learn->nr < COSET_ASKS; v++) {
		if (!addr_is_none(model->router[half + v].addr) ||
		    learn->times[v] == COSET_ATTEMPTS)
			continue;
		learn->times[v]++;
		learn->place[learn->nr] = v;
		ask(learn, hash_model_port(model, v) ^ learn->vector[learn->at], 0);
	}
}

/* A random port by which packets to the queue pair take a router that answers, by the model */
static __u16 test_port(struct hash_learn *learn, __u32 dqpn)
{
	const struct hash_model *model = &learn->model;
	__u16 port;

	do {
		port = model->base ^ xorshift32(&learn->seed) % (1 << HASH_PORT_BITS);
	} while (addr_is_none(hash_model_router(model, port, hash_model_qpn(model, dqpn))->addr));
	return port;
}

/* Random ports, with random queue pairs */
static void ask_tests(struct hash_learn *learn)
{
	/* (1/N)^t is less than 1 in 16,000 */
	static const __u8 tests[HASH_MAX_BITS + 1] = { 0, 14, 7, 6, 4, 4, 3, 2, 2 };

	while (learn->nr < tests[learn->model.bits] - learn->passed) {
		__u32 dqpn = xorshift32(&learn->seed) % (ROCESTEER_QPN_MASK - 1) + 2;

		ask(learn, test_port(learn, dqpn), dqpn);
	}
}

/* Bits of queue pair numbers, each with a random port, as its router may never answer */
static void ask_qpn(struct hash_learn *learn)
{
	unsigned int i;

	for (i = 0; i < HASH_QPN_BITS; i++)
		if (!learn->qpn_known[i])
			ask(learn, test_port(learn, 0), 1 << i);
}

static void set_columns(struct hash_learn *learn, const __u8 label[HASH_PORT_BITS])
{
	unsigned int i;

	for (i = 0; i < HASH_PORT_BITS; i++)
		learn->model.column[i] = learn->added[i] < 0 ? label[i] :
					 label[i] ^ label[learn->added[i]];
}

static enum hash_verdict end_columns(struct hash_learn *learn)
{
	__u8 label[HASH_PORT_BITS];
	unsigned int i;

	if (!learn->model.bits)
		return HASH_NO_INFLUENCE;
	for (i = 0; i < HASH_PORT_BITS; i++)
		label[i] = hash_model_find(&learn->model, &learn->seen[i]);
	set_columns(learn, label);
	enter(learn, HASH_TEST);
	ask_tests(learn);
	return HASH_OPEN;
}

/* All routers of a coset were asked. Those without an answer keep a label without a router. */
static enum hash_verdict add_bit(struct hash_learn *learn)
{
	struct hash_model *model = &learn->model;
	unsigned int half = hash_model_size(model), v;

	for (v = 1; v < half; v++)
		learn->silent += addr_is_none(model->router[half + v].addr);
	model->step[model->bits++] = learn->vector[learn->at++];
	return 4 * learn->silent > hash_model_size(model) ? HASH_SILENT : HASH_OPEN;
}

/* Give labels to the routers of vectors, until a coset has to be asked. */
static enum hash_verdict label_vectors(struct hash_learn *learn)
{
	struct hash_model *model = &learn->model;

	while (learn->at < HASH_PORT_BITS) {
		if (hash_model_find(model, &learn->seen[learn->at]) >= 0) {
			learn->at++;
			continue;
		}
		if (model->bits == HASH_MAX_BITS)
			return HASH_MANY;
		model->router[hash_model_size(model)] = learn->seen[learn->at];
		memset(learn->times, 0, sizeof(learn->times));
		enter(learn, HASH_COSET);
		ask_coset(learn);
		if (learn->nr)
			return HASH_OPEN;
		add_bit(learn);
	}
	return end_columns(learn);
}

static enum hash_verdict take_vectors(struct hash_learn *learn)
{
	unsigned int i, k = 0, missing = 0;

	for (i = 0; i < HASH_PORT_BITS; i++) {
		const struct hash_ask *answer;

		if (learn->known[i])
			continue;
		answer = &learn->ask[k++];
		learn->known[i] = answer->answered;
		if (answer->answered)
			meet(learn, answer->port);
		learn->seen[i] = answer->router;
	}
	for (i = 0; i < HASH_PORT_BITS; i++) {
		if (learn->known[i])
			continue;
		missing++;
		if (!change_vector(learn, i))
			return HASH_SILENT;
	}
	learn->nr = 0;
	if (!missing)
		return label_vectors(learn);
	ask_vectors(learn);
	return HASH_OPEN;
}

/* Each router of a coset is another one, and none was met before. */
static enum hash_verdict take_coset(struct hash_learn *learn)
{
	struct hash_model *model = &learn->model;
	unsigned int half = hash_model_size(model), i;
	enum hash_verdict verdict;
	bool known;

	for (i = 0; i < learn->nr; i++) {
		const struct hash_ask *answer = &learn->ask[i];

		if (!answer->answered)
			continue;
		model->bits++;		/* look in the coset as well */
		known = hash_model_find(model, &answer->router) >= 0;
		model->bits--;
		if (known)
			return learn->silent ? HASH_SILENT : HASH_NOT_LINEAR;
		model->router[half + learn->place[i]] = answer->router;
		meet(learn, answer->port);
	}
	learn->nr = 0;
	ask_coset(learn);
	if (learn->nr)
		return HASH_OPEN;
	verdict = add_bit(learn);
	return verdict == HASH_OPEN ? label_vectors(learn) : verdict;
}

static bool agrees(const struct hash_model *model, const struct hash_ask *answer)
{
	__u8 constant = hash_model_qpn(model, answer->dqpn);

	return hash_router_same(&answer->router,
				hash_model_router(model, answer->port, constant));
}

/*
 * Does the port agree without the queue pair? Then its number is hashed as well. Once its columns
 * are known, no other test has an excuse.
 */
static enum hash_verdict blame_qpn(struct hash_learn *learn, __u16 port)
{
	if (learn->qpn_known[0])
		return HASH_NOT_LINEAR;
	enter(learn, HASH_BLAME);
	learn->nr = 0;
	ask(learn, port, 0);
	return HASH_OPEN;
}

static enum hash_verdict take_tests(struct hash_learn *learn)
{
	unsigned int i;

	for (i = 0; i < learn->nr; i++) {
		const struct hash_ask *answer = &learn->ask[i];

		if (!answer->answered)
			continue;
		if (!agrees(&learn->model, answer))
			return blame_qpn(learn, answer->port);
		learn->passed++;
		meet(learn, answer->port);
	}
	learn->nr = 0;
	ask_tests(learn);
	return learn->nr ? HASH_OPEN : HASH_LINEAR;
}

static enum hash_verdict take_blame(struct hash_learn *learn)
{
	const struct hash_ask answer = learn->ask[0];

	if (answer.answered && !agrees(&learn->model, &answer))
		return HASH_NOT_LINEAR;
	learn->nr = 0;
	if (answer.answered) {
		enter(learn, HASH_QPN);
		ask_qpn(learn);
	} else {
		ask(learn, answer.port, 0);
	}
	return HASH_OPEN;
}

static enum hash_verdict take_qpn(struct hash_learn *learn)
{
	struct hash_model *model = &learn->model;
	unsigned int i, k = 0;

	for (i = 0; i < HASH_QPN_BITS; i++) {
		const struct hash_ask *answer;
		int column;

		if (learn->qpn_known[i])
			continue;
		answer = &learn->ask[k++];
		if (!answer->answered)
			continue;
		column = hash_model_constant(model, answer->port, &answer->router);
		if (column < 0)
			return HASH_NOT_LINEAR;
		model->qpn_column[i] = column;
		learn->qpn_known[i] = true;
	}
	learn->nr = 0;
	ask_qpn(learn);
	if (learn->nr)
		return HASH_OPEN;
	learn->passed = 0;
	enter(learn, HASH_TEST);
	ask_tests(learn);
	return HASH_OPEN;
}

void hash_learn_start(struct hash_learn *learn, __u16 base, const struct hash_router *router,
		      __u32 seed)
{
	unsigned int i;

	*learn = (struct hash_learn) { .model.base = base, .seed = seed };
	learn->model.router[0] = *router;
	meet(learn, base);
	for (i = 0; i < HASH_PORT_BITS; i++) {
		learn->vector[i] = 1 << i;
		learn->added[i] = -1;
	}
	ask_vectors(learn);
}

enum hash_verdict hash_learn_step(struct hash_learn *learn)
{
	if (learn->stage == HASH_COSET)
		learn->verdict = take_coset(learn);
	else if (++learn->attempts > ATTEMPTS)
		learn->verdict = HASH_SILENT;
	else if (learn->stage == HASH_COLUMNS)
		learn->verdict = take_vectors(learn);
	else if (learn->stage == HASH_BLAME)
		learn->verdict = take_blame(learn);
	else if (learn->stage == HASH_QPN)
		learn->verdict = take_qpn(learn);
	else
		learn->verdict = take_tests(learn);
	return learn->verdict;
}
