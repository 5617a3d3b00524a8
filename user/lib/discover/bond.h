/* SPDX-License-Identifier: GPL-2.0 */
/* Bonds: what chooses the member by which a packet leaves, as sysfs and debugfs say it. */
#ifndef ROCESTEER_LIB_BOND_H
#define ROCESTEER_LIB_BOND_H

#include <net/if.h>
#include <stdbool.h>

/**
 * enum bond_choice - what chooses the member of a Linux bond
 * @BOND_NONE: nothing: the device is no bond, or has one member in use
 * @BOND_PORTS: addresses and ports
 * @BOND_ADDRESSES: addresses, of which a peer has the same for all ports
 * @BOND_PACKETS: no part of a packet: those of one port take several members
 */
enum bond_choice {
	BOND_NONE,
	BOND_PORTS,
	BOND_ADDRESSES,
	BOND_PACKETS,
};

#define BOND_WORD	32

/**
 * struct bond - the bond that a device is, or lies on
 * @device: its name; empty: none
 * @mode: as bonding has it
 * @policy: xmit_hash_policy
 * @members: number of members that are up
 * @choice: what chooses one
 * @select: what chooses the port of an mlx5 NIC, for packets of its queue pairs: "hash", which is
 *	as @policy says, "queue_affinity", or another word; "unknown" where it cannot be read;
 *	empty: the NIC is none, or has no choice
 */
struct bond {
	char device[IF_NAMESIZE];
	char mode[BOND_WORD];
	char policy[BOND_WORD];
	unsigned int members;
	enum bond_choice choice;
	char select[BOND_WORD];
};

/**
 * bond_read() - find out what chooses members
 * @sysfs: where sysfs is mounted, with debugfs in it
 * @device: network device
 * @ifindex: its number: where sysfs has another one, it is that of another network namespace
 * @bond: filled
 *
 * A VLAN or another device on a bond is as the bond is. What cannot be read is empty.
 */
void bond_read(const char *sysfs, const char *device, unsigned int ifindex, struct bond *bond);

/* Are the members ports of an mlx5 NIC that does not say what chooses one? */
bool bond_hides_select(const struct bond *bond);

/* Do queue pairs choose the port of the NIC by their number? */
bool bond_has_affinity(const struct bond *bond);

#endif /* ROCESTEER_LIB_BOND_H */
