// SPDX-License-Identifier: GPL-2.0
#include "hash_peer.h"

#include "base/base.h"

/* The first @bits + 1 are affinely independent; all are distinct. */
static __u8 label_of(unsigned int bits, unsigned int turn, unsigned int i)
{
	__u8 all = (1 << bits) - 1;

	if (!i)
		return 0;
	if (i <= bits)
		return 1 << (turn + i) % bits;
	return i == bits + 1 ? all : all ^ 1 << (i - bits - 2);
}

void hash_peer_ask(const struct hash_model *model, struct hash_ask *asks, unsigned int nr,
		   unsigned int turn)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		asks[i] = (struct hash_ask) {
			.port = hash_model_port(model, label_of(model->bits, turn, i)),
		};
}

int hash_peer_judge(const struct hash_model *model, const struct hash_ask *asks, unsigned int nr,
		    unsigned int need)
{
	unsigned int i, answered = 0;
	int constant = -1, one;

	for (i = 0; i < nr; i++) {
		if (!asks[i].answered)
			continue;
		one = hash_model_constant(model, asks[i].port, &asks[i].router);
		if (one < 0 || (answered && one != constant))
			return HASH_PEER_OTHER;
		constant = one;
		answered++;
	}
	if (answered < need)
		return HASH_PEER_SILENT;
	for (i = 0; i < nr; i++)
		if (!asks[i].answered &&
		    !addr_is_none(hash_model_router(model, asks[i].port, constant)->addr))
			return HASH_PEER_SILENT;
	return constant;
}
