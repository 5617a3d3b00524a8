/* SPDX-License-Identifier: GPL-2.0 */
/* Learn the model of a hash: rounds of ports that are asked together. */
#ifndef ROCESTEER_LIB_HASH_LEARN_H
#define ROCESTEER_LIB_HASH_LEARN_H

#include <stdbool.h>
#include <linux/types.h>

#include "hash_model.h"

/**
 * enum hash_verdict - result
 * @HASH_OPEN: there is another round
 * @HASH_LINEAR: the model holds
 * @HASH_NO_INFLUENCE: all ports take one path
 * @HASH_NOT_LINEAR: ports take other paths than an affine hash gives them, or the number of next
 *	hops is no power of two
 * @HASH_MANY: there are more next hops than a model has
 * @HASH_SILENT: too few routers answer to say
 */
enum hash_verdict {
	HASH_OPEN,
	HASH_LINEAR,
	HASH_NO_INFLUENCE,
	HASH_NOT_LINEAR,
	HASH_MANY,
	HASH_SILENT,
};

/**
 * struct hash_ask - a port that is asked
 * @port: port, host order
 * @dqpn: destination queue pair of the packet
 * @answered: @router is set
 * @router: that answered
 */
struct hash_ask {
	__u16 port;
	__u32 dqpn;
	bool answered;
	struct hash_router router;
};

#define HASH_MAX_ASKS	HASH_QPN_BITS	/* of a round */
#define HASH_MAX_MET	(HASH_MAX_LABELS + 64)	/* vectors, cosets and tests */

enum hash_stage { HASH_COLUMNS, HASH_COSET, HASH_TEST, HASH_BLAME, HASH_QPN };

/**
 * struct hash_learn - state
 * @model: model, right with HASH_LINEAR
 * @verdict: result so far
 * @ask: the round; its user sets @answered and @router
 * @nr: number of @ask
 * @asked: of all rounds
 * @silent: next hops that do not answer
 * @stage: what the round is for
 * @seed: of random ports
 * @attempts: rounds of this stage, without those of cosets
 * @vector: XOR of ports; a basis of all ports
 * @added: vector that was added to this one, which got no answer, or -1
 * @known: the vector's router has answered
 * @seen: router of the base with the vector
 * @at: vectors whose label is known
 * @times: how often each port of a coset was asked
 * @place: in the coset, of each port of the round
 * @passed: tests that agreed
 * @met: ports whose routers the model was made of, or agreed with
 * @nr_met: number of @met
 * @qpn_known: the column of a bit of queue pair numbers is known
 */
struct hash_learn {
	struct hash_model model;
	enum hash_verdict verdict;
	struct hash_ask ask[HASH_MAX_ASKS];
	unsigned int nr;
	unsigned int asked;
	unsigned int silent;
	enum hash_stage stage;
	__u32 seed;
	unsigned int attempts;
	__u16 vector[HASH_PORT_BITS];
	int added[HASH_PORT_BITS];
	bool known[HASH_PORT_BITS];
	struct hash_router seen[HASH_PORT_BITS];
	unsigned int at;
	unsigned int times[HASH_MAX_LABELS / 2];
	unsigned int place[HASH_MAX_ASKS];
	unsigned int passed;
	__u16 met[HASH_MAX_MET];
	unsigned int nr_met;
	bool qpn_known[HASH_QPN_BITS];
};

/**
 * hash_learn_start() - begin
 * @learn: state; the first round is set
 * @base: a port, host order
 * @router: that answered to @base
 * @seed: of random ports, not 0
 */
void hash_learn_start(struct hash_learn *learn, __u16 base, const struct hash_router *router,
		      __u32 seed);

/* Take the answers of a round, and set the next one. Return: @verdict. */
enum hash_verdict hash_learn_step(struct hash_learn *learn);

#endif /* ROCESTEER_LIB_HASH_LEARN_H */
