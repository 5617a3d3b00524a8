/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by genl*.c: the connection. */
#ifndef ROCESTEER_LIB_GENL_PRIV_H
#define ROCESTEER_LIB_GENL_PRIV_H

#include "family/family.h"
#include "genl.h"

/**
 * struct genl - a connection
 * @family: to the family
 */
struct genl {
	struct family family;
};

#endif /* ROCESTEER_LIB_GENL_PRIV_H */
