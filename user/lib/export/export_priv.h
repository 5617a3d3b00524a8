/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_LIB_EXPORT_PRIV_H
#define ROCESTEER_LIB_EXPORT_PRIV_H

#include "export.h"

/* Load of the fullest path of a peer; rounded up, so that only even ones are EXPORT_EVEN. */
unsigned int export_fullest(const struct portmap_peer *peer, const __u16 *load, unsigned int n);

/* Is @a more even than @b? */
bool export_is_better(const struct export_balance *a, const struct export_balance *b);

#endif /* ROCESTEER_LIB_EXPORT_PRIV_H */
