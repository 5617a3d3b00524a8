// SPDX-License-Identifier: GPL-2.0
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/reduce.h"

#define MILLIONTHS	1000000ull
#define NS_PER_MS	1000000ull

#define SWITCH		"ROCESTEER_MPI_SWITCH"
#define BOX		"ROCESTEER_MPI_BOX"
#define GROUPS		"ROCESTEER_MPI_GROUPS"
#define MIN		"ROCESTEER_MPI_MIN"
#define DEVICE		"ROCESTEER_MPI_DEVICE"
#define PACKETS		"ROCESTEER_MPI_PACKETS"
#define TIMEOUT		"ROCESTEER_MPI_TIMEOUT"
#define COUNTERS	"ROCESTEER_MPI_COUNTERS"

/* The last 256 numbers: plans of jobs count from 0. */
#define FIRST_GROUP	(ROCESTEER_REDUCE_MAX_GROUP - 255)

#define MAX_PACKETS	(ROCESTEER_REDUCE_MAX_WINDOW / REDUCE_WINDOW)
#define MAX_MIN		1000000000000ull
#define MIN_TIMEOUT	10ull		/* ms */
#define MAX_TIMEOUT	3600000ull

static const char *value_of(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int number(const char *name, const char *value, __u64 min, __u64 max, __u64 *into,
		  struct err *err)
{
	__u64 millionths;

	if (!value)
		return 0;
	if (strchr(value, '.') ||
	    decimal_read(value, min * MILLIONTHS, max * MILLIONTHS, &millionths))
		return err_set(err, EXIT_BAD_INPUT, "environment",
			       "%s: '%.64s' is no number from %llu to %llu", name, value, min, max);
	*into = millionths / MILLIONTHS;
	return 0;
}

/* FIRST-LAST */
static int read_groups(struct config *config, struct err *err)
{
	const char *value = value_of(GROUPS), *dash = value ? strchr(value, '-') : NULL;
	__u64 first = FIRST_GROUP, last = ROCESTEER_REDUCE_MAX_GROUP;
	char text[8] = "";
	int ret;

	if (value) {
		if (!dash || dash - value >= (int)sizeof(text))
			return err_set(err, EXIT_BAD_INPUT, "environment",
				       "%s: '%.64s' is no range such as 0-99", GROUPS, value);
		memcpy(text, value, dash - value);
		ret = number(GROUPS, text, 0, ROCESTEER_REDUCE_MAX_GROUP, &first, err) ?:
		      number(GROUPS, dash + 1, first, ROCESTEER_REDUCE_MAX_GROUP, &last, err);
		if (ret)
			return ret;
	}
	config->first = first;
	config->groups = last - first + 1;
	return 0;
}

static int read_box(struct config *config, struct err *err)
{
	const char *value = value_of(BOX);

	if (value && addr_parse(value, config->box))
		return err_set(err, EXIT_BAD_INPUT, "environment", "%s: '%.64s' is not an address",
			       BOX, value);
	return 0;
}

static int read_command(struct config *config, const char *command, struct err *err)
{
	if (strlen(command) >= sizeof(config->command))
		return err_set(err, EXIT_BAD_INPUT, "environment",
			       "%s: a command has less than %zu bytes", SWITCH,
			       sizeof(config->command));
	memcpy(config->command, command, strlen(command));
	return 0;
}

int config_read(struct config *config, struct err *err)
{
	const char *command = value_of(SWITCH);
	__u64 min = 65536, packets = REDUCE_PACKETS, timeout = 5000;
	int ret;

	*config = (struct config) {};
	if (!command)
		return 0;
	ret = read_command(config, command, err) ?:
	      read_box(config, err) ?:
	      read_groups(config, err) ?:
	      number(MIN, value_of(MIN), 1, MAX_MIN, &min, err) ?:
	      number(PACKETS, value_of(PACKETS), 1, MAX_PACKETS, &packets, err) ?:
	      number(TIMEOUT, value_of(TIMEOUT), MIN_TIMEOUT, MAX_TIMEOUT, &timeout, err);
	if (ret)
		return ret;
	config->min = min;
	config->packets = packets;
	config->timeout = timeout * NS_PER_MS;
	config->on = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	return 0;
}

const char *config_device(void)
{
	return value_of(DEVICE);
}

const char *config_counters(void)
{
	return value_of(COUNTERS);
}
