// SPDX-License-Identifier: GPL-2.0
/*
 * Which packets a switch of slot_model.h takes, as kmod/reduce/receive.c does: three ranges
 * of virtual queue pair numbers keep inputs, parts and results apart. slot_mutants has faults
 * for this file, too.
 */
#include "slot_model.h"

bool model_switch_takes(const struct model_switch *sw, u32 conn, enum model_kind kind)
{
	if (model_is_root(sw))
		return kind == MODEL_PART;
	if (reduce_slots_comes_down(&sw->slots, conn))
		return kind == MODEL_RESULT;
	return kind == MODEL_INPUT;
}

enum model_kind model_switch_sends(const struct model_switch *sw, u32 conn)
{
	if (model_is_root(sw))
		return MODEL_RESULT;
	if (reduce_slots_goes_up(&sw->slots, conn))
		return MODEL_PART;
	return MODEL_REAL;
}

/* No queue pair has a virtual number. */
bool model_host_takes(enum model_kind kind)
{
	return kind == MODEL_REAL;
}
