/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses in the form of maps and netlink: 16 bytes in network order, IPv4 as
 * ::ffff:a.b.c.d, as in a RoCE v2 GID.
 */
#ifndef ROCESTEER_LIB_ADDR_H
#define ROCESTEER_LIB_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Longest text of an address, with its NUL. */
#define ADDR_STRLEN	INET6_ADDRSTRLEN

/**
 * addr_parse() - read an IPv4 or IPv6 address
 * @text: its text
 * @addr: filled
 *
 * Unspecified and multicast addresses are refused: no host has them.
 *
 * Return: 0 or -EINVAL.
 */
int addr_parse(const char *text, __u8 addr[16]);

/**
 * addr_format() - write an address as people do
 * @addr: the address
 * @text: filled, at least ADDR_STRLEN bytes
 *
 * Return: @text.
 */
const char *addr_format(const __u8 addr[16], char *text);

/* True for ::ffff:a.b.c.d. */
bool addr_is_v4(const __u8 addr[16]);

/* True for ::, which stands for "none". */
bool addr_is_none(const __u8 addr[16]);

/* Order of two addresses, as memcmp(). */
int addr_compare(const __u8 a[16], const __u8 b[16]);

/**
 * addr_find_twice() - find an address that is in an array twice
 * @addr: the array
 * @n: its length
 * @twice: set to that address
 *
 * Return: 1; 0: there is none; -ENOMEM.
 */
int addr_find_twice(const __u8 addr[][16], size_t n, __u8 twice[16]);

/**
 * addr_to_sockaddr() - make a socket address
 * @addr: the address
 * @port: in host order
 * @scope: interface index, used for IPv6 link-local addresses only
 * @ss: filled
 *
 * Return: its length.
 */
socklen_t addr_to_sockaddr(const __u8 addr[16], unsigned int port,
			   unsigned int scope, struct sockaddr_storage *ss);

/**
 * addr_from_sockaddr() - the reverse
 * @ss: of family AF_INET or AF_INET6
 * @addr: filled
 *
 * Return: 0 or -EAFNOSUPPORT.
 */
int addr_from_sockaddr(const struct sockaddr *ss, __u8 addr[16]);

#endif /* ROCESTEER_LIB_ADDR_H */
