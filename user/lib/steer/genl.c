// SPDX-License-Identifier: GPL-2.0
/* The connection to the module. Messages: genl_msg.c. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "genl_priv.h"

static const struct family_spec spec = {
	.name = ROCESTEER_FAMILY_NAME,
	.module = "rocesteer",
	.events = ROCESTEER_MCGRP_EVENTS,
	.version = ROCESTEER_FAMILY_VERSION,
};

#define MODULE	"/sys/module/rocesteer"

bool genl_module_is_loaded(void)
{
	return !access(MODULE, F_OK);
}

void genl_module_says(const char *what, char *text, size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	text[0] = '\0';
	snprintf(path, sizeof(path), MODULE "/%s", what);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(text, size, f))
		text[strcspn(text, "\n")] = '\0';
	fclose(f);
}

/* Is the module loaded, but the BPF programs cannot call it? */
static bool lacks_btf(void)
{
	return genl_module_is_loaded() &&
	       access("/sys/kernel/btf/rocesteer", F_OK);
}

static int no_btf(struct err *err)
{
	err_set(err, EXIT_FAILED, "module-no-btf",
		"the module rocesteer is loaded without BTF, BPF programs cannot call it");
	err_hint(err, "Build it where pahole is installed and /sys/kernel/btf/vmlinux exists.");
	return -ENOEXEC;
}

int genl_open(struct genl **out, struct err *err)
{
	struct genl *genl;
	int ret;

	if (lacks_btf())
		return no_btf(err);
	genl = malloc(sizeof(*genl));
	if (!genl)
		return -ENOMEM;
	ret = family_open(&genl->family, &spec, err);
	if (ret)
		genl_close(genl);
	else
		*out = genl;
	return ret;
}

void genl_close(struct genl *genl)
{
	if (!genl)
		return;
	family_close(&genl->family);
	free(genl);
}
