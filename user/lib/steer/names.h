/* SPDX-License-Identifier: GPL-2.0 */
/* Names of numbers, for people and JSON alike. */
#ifndef ROCESTEER_LIB_NAMES_H
#define ROCESTEER_LIB_NAMES_H

#include <stdbool.h>

/**
 * verdict_name() - name of an enum rocesteer_verdict
 * @verdict: below ROCESTEER_VERDICT_MAX
 *
 * Return: lower case with dashes, or "unknown".
 */
const char *verdict_name(unsigned int verdict);

/* The same for enum rocesteer_observed. */
const char *observed_name(unsigned int observed);

/* The same for enum rocesteer_actuator. */
const char *actuator_name(unsigned int actuator);

/* The same for enum rocesteer_split. */
const char *split_name(unsigned int split);

/* The same for enum rocesteer_deal. */
const char *deal_name(unsigned int deal);

/* The same for enum promise. */
const char *promise_name(unsigned int promise);

/* The same for enum rocesteer_reseq_mode, as --resequence has them. */
const char *reseq_mode_name(unsigned int reseq);

/* The same for enum rocesteer_label. */
const char *label_name(unsigned int label);

/**
 * struct split_kind - properties of an enum rocesteer_split
 * @is_planned: flows take their pieces by plans of rocesteer daemon
 * @is_always: flows on all their paths keep paths equal at each moment
 */
struct split_kind {
	bool is_planned;
	bool is_always;
};

/* Properties of an enum rocesteer_split; an unknown number has those of ROCESTEER_SPLIT_NONE. */
const struct split_kind *split_kind(unsigned int split);

/* "auto" beside enum rocesteer_deal */
#define DEAL_AUTO	(ROCESTEER_DEAL_PLACE + 1)

/* Words of the command line by their number, ended by NULL. ROCESTEER_SPLIT_MAX is "auto". */
extern const char * const split_names[];
extern const char * const deal_names[];
extern const char * const reseq_mode_names[];
extern const char * const actuator_names[];

#endif /* ROCESTEER_LIB_NAMES_H */
