/* SPDX-License-Identifier: GPL-2.0 */
/* Names of numbers, for people and JSON alike. */
#ifndef ROCESTEER_NAMES_H
#define ROCESTEER_NAMES_H

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

/* The same for enum rocesteer_label. */
const char *label_name(unsigned int label);

#endif /* ROCESTEER_NAMES_H */
