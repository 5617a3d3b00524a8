// SPDX-License-Identifier: GPL-2.0
#include "module.h"

#include <errno.h>
#include <string.h>

int module_open(struct genl **genl, enum module_use use, struct err *err)
{
	int ret;

	*genl = NULL;
	if (use == MODULE_NO)
		return 0;
	ret = genl_open(genl, err);
	if (ret == -ENOENT && use == MODULE_AUTO) {
		err->code = NULL;
		return 0;
	}
	return ret;
}
