// SPDX-License-Identifier: GPL-2.0
/*
 * Journals after a crash are repaired; a second repair changes nothing, and a decision that
 * was not carried out is void.
 */
#include "fuzz.h"
#include "base/base.h"
#include "cluster/cluster.h"

#define NAME	"journalled.json"
#define JOURNAL	NAME ".journal"

/* Return: the journal, to be freed */
static char *contents(void)
{
	char *text = NULL;
	size_t room = 0;
	FILE *file = fopen(JOURNAL, "r");

	assert(file);
	if (getdelim(&text, &room, '\0', file) < 0)
		text[0] = '\0';
	fclose(file);
	return text;
}

static void open_and_close(void)
{
	struct err err = {};
	struct cluster c;

	assert(!cluster_open(&c, NAME, &err));
	cluster_close(&c);
}

/* Write a decision, but not the changed file. */
static void decide(void)
{
	struct json_object *decision = out_root();
	struct err err = {};
	struct cluster c;

	assert(!cluster_open(&c, NAME, &err));
	out_string(decision, "decision", "alloc");
	c.generation++;
	assert(!cluster_note(&c, decision, &err));
	cluster_close(&c);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	char file[128], *one, *two;
	struct err err = {};
	struct cluster c;

	/* Strings are compared up to a NUL only. */
	if (!size || memchr(data + 1, 0, size - 1))
		return 0;
	snprintf(file, sizeof(file), "{\"leaves\":1,\"spines\":1,\"gpus_per_leaf\":1,"
		 "\"gpus_per_server\":1,\"generation\":%u}", data[0] % 12);
	fuzz_write(NAME, file, strlen(file));
	fuzz_write(JOURNAL, data + 1, size - 1);
	if (cluster_open(&c, NAME, &err)) {
		assert(err.code);
		return 0;
	}
	cluster_close(&c);
	one = contents();
	assert(!one[0] || one[strlen(one) - 1] == '\n');
	open_and_close();
	two = contents();
	assert(!strcmp(one, two));
	free(one);
	decide();
	open_and_close();
	one = contents();
	assert(strlen(one) > strlen(two) && strstr(one + strlen(two), "\"void\""));
	free(one);
	free(two);
	return 0;
}
