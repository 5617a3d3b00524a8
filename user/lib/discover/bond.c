// SPDX-License-Identifier: GPL-2.0
#include "bond.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define MAX_DEPTH	8	/* devices on devices */

/* The first word of a file, or an empty one */
static void __printf(2, 3) read_word(char word[BOND_WORD], const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	FILE *file;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	word[0] = '\0';
	file = fopen(path, "re");
	if (!file)
		return;
	if (fscanf(file, "%31s", word) != 1)
		word[0] = '\0';
	fclose(file);
}

/* The last part of where a link leads, or nothing */
static void __printf(2, 3) read_link(char name[BOND_WORD], const char *fmt, ...)
{
	char path[PATH_MAX], to[PATH_MAX];
	const char *slash;
	va_list args;
	ssize_t len;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	len = readlink(path, to, sizeof(to) - 1);
	to[len < 0 ? 0 : len] = '\0';
	slash = strrchr(to, '/');
	snprintf(name, BOND_WORD, "%.31s", slash ? slash + 1 : to);
}

/* The device below, of which a VLAN has one */
static bool find_lower(const char *sysfs, char device[IF_NAMESIZE])
{
	char path[PATH_MAX];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/class/net/%s", sysfs, device);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		found = !strncmp(entry->d_name, "lower_", strlen("lower_"));
		if (found)
			snprintf(device, IF_NAMESIZE, "%.15s", entry->d_name + strlen("lower_"));
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * The port selection of an mlx5 NIC, by its network device, that of a virtual function included:
 * the vendor's driver has a file for it, the kernel's one in debugfs, while a bond is active.
 */
static void read_select(const char *sysfs, const char *member, struct bond *bond)
{
	static const char *const links[] = { "device", "device/physfn" };
	char pci[BOND_WORD], driver[BOND_WORD];
	size_t i;

	if (bond->members > 1)
		read_word(bond->select, "%s/class/net/%s/compat/devlink/lag_port_select_mode",
			  sysfs, member);
	for (i = 0; !bond->select[0] && i < ARRAY_SIZE(links); i++) {
		read_link(pci, "%s/class/net/%s/%s", sysfs, member, links[i]);
		read_word(bond->select, "%s/kernel/debug/mlx5/%s/lag/port_sel_mode", sysfs, pci);
	}
	read_link(driver, "%s/class/net/%s/device/driver", sysfs, member);
	if (!bond->select[0] && bond->members > 1 && !strcmp(driver, "mlx5_core"))
		snprintf(bond->select, sizeof(bond->select), "unknown");
}

/* Count the members that are up. @last: set to one of them */
static void read_members(const char *sysfs, struct bond *bond, char last[IF_NAMESIZE])
{
	char path[PATH_MAX], member[IF_NAMESIZE], status[BOND_WORD];
	FILE *file;

	snprintf(path, sizeof(path), "%s/class/net/%s/bonding/slaves", sysfs, bond->device);
	file = fopen(path, "re");
	while (file && fscanf(file, "%15s", member) == 1) {
		read_word(status, "%s/class/net/%s/bonding_slave/mii_status", sysfs, member);
		if (!strcmp(status, "down"))
			continue;
		bond->members++;
		memcpy(last, member, IF_NAMESIZE);
	}
	if (file)
		fclose(file);
}

static bool is_one_of(const char *word, const char *const words[])
{
	while (*words && strcmp(word, *words))
		words++;
	return *words;
}

static enum bond_choice choice(const struct bond *bond)
{
	static const char *const hashes[] = { "balance-xor", "802.3ad", NULL };
	static const char *const by_ports[] = { "layer3+4", "encap3+4", NULL };

	if (bond->members < 2 || !strcmp(bond->mode, "active-backup"))
		return BOND_NONE;
	if (!is_one_of(bond->mode, hashes))
		return BOND_PACKETS;
	return is_one_of(bond->policy, by_ports) ? BOND_PORTS : BOND_ADDRESSES;
}

void bond_read(const char *sysfs, const char *device, unsigned int ifindex, struct bond *bond)
{
	char word[BOND_WORD], member[IF_NAMESIZE];
	int depth = 0;

	*bond = (struct bond) {};
	read_word(word, "%s/class/net/%s/ifindex", sysfs, device);
	if (strtoul(word, NULL, 10) != ifindex)
		return;
	snprintf(bond->device, sizeof(bond->device), "%.15s", device);
	do {
		read_word(bond->mode, "%s/class/net/%s/bonding/mode", sysfs, bond->device);
	} while (!bond->mode[0] && depth++ < MAX_DEPTH && find_lower(sysfs, bond->device));
	if (!bond->mode[0]) {
		bond->device[0] = '\0';
		read_select(sysfs, device, bond);
		return;
	}
	read_word(bond->policy, "%s/class/net/%s/bonding/xmit_hash_policy", sysfs, bond->device);
	read_members(sysfs, bond, member);
	bond->choice = choice(bond);
	if (bond->choice != BOND_NONE)
		read_select(sysfs, member, bond);
}

bool bond_hides_select(const struct bond *bond)
{
	return !strcmp(bond->select, "unknown");
}

bool bond_has_affinity(const struct bond *bond)
{
	return !strcmp(bond->select, "queue_affinity");
}
