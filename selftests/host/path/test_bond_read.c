// SPDX-License-Identifier: GPL-2.0
/* What sysfs says of bonds: a tree of files stands in for it. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "discover/bond.h"
#include "../../ktap.h"

static char root[PATH_MAX];

/* Make the directories before the last part of a path of the tree. */
static void make_parents(char *path)
{
	char *slash = path + strlen(root);

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%.1000s/%s", root, name);
	make_parents(path);
	file = fopen(path, "w");
	if (!file)
		exit(1);
	fprintf(file, "%s\n", text);
	fclose(file);
}

static void put_link(const char *name, const char *to)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.1000s/%s", root, name);
	make_parents(path);
	if (symlink(to, path))
		exit(1);
}

static void remove_tree(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf %.1000s", root);
	if (system(command))
		exit(1);
}

/* A bond of two NICs, @status is that of the second */
static void make_bond(const char *mode, const char *policy, const char *status)
{
	remove_tree();
	mkdir(root, 0700);
	put("class/net/bond0/ifindex", "7");
	put("class/net/bond0/bonding/mode", mode);
	put("class/net/bond0/bonding/xmit_hash_policy", policy);
	put("class/net/bond0/bonding/slaves", "nic0 nic1");
	put("class/net/nic0/bonding_slave/mii_status", "up");
	put("class/net/nic1/bonding_slave/mii_status", status);
	put_link("class/net/nic0/device", "../../../0000:01:00.0");
	put_link("class/net/nic1/device", "../0000:01:00.1");
}

static bool is(enum bond_choice choice, const char *select)
{
	struct bond bond;

	bond_read(root, "bond0", 7, &bond);
	return bond.choice == choice && !strcmp(bond.select, select) &&
	       bond_has_affinity(&bond) == !strcmp(select, "queue_affinity");
}

static bool reads(const char *mode, const char *policy, const char *status,
		  enum bond_choice choice)
{
	make_bond(mode, policy, status);
	return is(choice, "");
}

static void test_modes(void)
{
	struct bond bond;

	ktap_result(reads("balance-xor 2", "layer3+4 1", "up", BOND_PORTS) &&
		    reads("802.3ad 4", "encap3+4 4", "up", BOND_PORTS),
		    "ports choose the member of a bond that hashes them");
	ktap_result(reads("balance-xor 2", "layer2 0", "up", BOND_ADDRESSES) &&
		    reads("802.3ad 4", "layer2+3 2", "up", BOND_ADDRESSES) &&
		    reads("802.3ad 4", "vlan+srcmac 5", "up", BOND_ADDRESSES),
		    "they do not where it hashes addresses alone");
	ktap_result(reads("balance-rr 0", "layer3+4 1", "up", BOND_PACKETS) &&
		    reads("balance-alb 6", "layer3+4 1", "up", BOND_PACKETS),
		    "or where it goes by packets or load");
	ktap_result(reads("active-backup 1", "layer2 0", "up", BOND_NONE) &&
		    reads("802.3ad 4", "layer2 0", "down", BOND_NONE),
		    "one member in use is no choice");
	make_bond("802.3ad 4", "layer3+4 1", "up");
	bond_read(root, "bond0", 8, &bond);
	ktap_result(!bond.device[0] && bond.choice == BOND_NONE,
		    "a device of another network namespace is not taken for this one");
	bond_read(root, "eth9", 7, &bond);
	ktap_result(!bond.device[0] && bond.choice == BOND_NONE && !bond.select[0],
		    "a device that is not there is no bond");
	put("class/net/vlan5/ifindex", "9");
	put_link("class/net/vlan5/lower_bond0", "../bond0");
	bond_read(root, "vlan5", 9, &bond);
	ktap_result(!strcmp(bond.device, "bond0") && bond.choice == BOND_PORTS &&
		    bond.members == 2, "a VLAN on a bond is as the bond is");
}

static void test_mlx5(void)
{
	static const char kernel[] = "kernel/debug/mlx5/0000:01:00.1/lag/port_sel_mode";
	static const char vendor[] = "class/net/nic1/compat/devlink/lag_port_select_mode";
	struct bond bond;

	make_bond("802.3ad 4", "layer3+4 1", "up");
	put("drivers/mlx5_core/module", "");
	put_link("class/net/0000:01:00.1/driver", "../../../drivers/mlx5_core");
	ktap_result(is(BOND_PORTS, "unknown"), "a NIC that does not say its choice is noticed");
	put(kernel, "queue_affinity");
	ktap_result(is(BOND_PORTS, "queue_affinity"), "the kernel's driver says queue affinity");
	put(kernel, "hash");
	ktap_result(is(BOND_PORTS, "hash"), "or hash");
	put(vendor, "queue_affinity");
	ktap_result(is(BOND_PORTS, "queue_affinity"), "so does the vendor's driver");
	make_bond("active-backup 1", "layer3+4 1", "up");
	put(vendor, "queue_affinity");
	ktap_result(is(BOND_NONE, ""), "which matters only where several members are in use");
	make_bond("802.3ad 4", "layer3+4 1", "up");
	put("class/net/vf3/ifindex", "11");
	put_link("class/net/vf3/device", "../bond0/pci");
	put_link("class/net/bond0/pci/physfn", "../0000:01:00.1");
	put(kernel, "queue_affinity");
	bond_read(root, "vf3", 11, &bond);
	ktap_result(!bond.device[0] && bond_has_affinity(&bond),
		    "a virtual function has the choice of its NIC");
}

int main(void)
{
	ktap_begin();
	snprintf(root, sizeof(root), "%s/rocesteer-bond-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(root))
		return 1;
	test_modes();
	test_mlx5();
	remove_tree();
	return ktap_end();
}
