// SPDX-License-Identifier: GPL-2.0
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/icmp6.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <unistd.h>
#include <rocesteer/roce.h>
#include <rocesteer/types.h>

#include "base/base.h"

/* Transport service 4 has the CNP only: no NIC takes this for data. */
#define RESERVED_OPCODE	0x9f
/* The first port of traceroute, on which no host listens. */
#define UNUSED_PORT	33434
/* Offsets of the cookie, and of the padding whose length tells the kinds apart. */
#define COOKIE		(PROBE_UDP_HEADER + sizeof(struct rocesteer_bth))
#define PADDING		(COOKIE + sizeof(__u64))

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

/*
 * Answers come by the error queue. Drop ordinary packets: a raw socket would get a copy of
 * all RoCE traffic that the kernel sees.
 */
static int drop_packets(int fd)
{
	struct sock_filter ret0 = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = { .len = 1, .filter = &ret0 };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static int configure(int fd, bool v4)
{
	if (v4)
		return set(fd, SOL_IP, IP_RECVERR, 1) ?:
		       set(fd, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	return set(fd, SOL_IPV6, IPV6_RECVERR, 1) ?:
	       set(fd, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) ?:
	       set(fd, SOL_IPV6, IPV6_AUTOFLOWLABEL, 0);
}

static int open_fail(const char *device, const __u8 source[16], struct err *err)
{
	char text[ADDR_STRLEN];
	int ret = -errno;

	switch (ret) {
	case -EPERM:
	case -EACCES:
		err_set(err, EXIT_FAILED, "permission", "not permitted: probes need CAP_NET_RAW");
		err_hint(err, "Run it as root.");
		break;
	case -ENODEV:
		err_set(err, EXIT_FAILED, "no-device", "there is no network device %s", device);
		break;
	case -EADDRNOTAVAIL:
		err_set(err, EXIT_BAD_INPUT, "other-host",
			"the source %s is not an address of this host",
			addr_format(source, text));
		err_hint(err, "A port map is of one host: rocesteer path discover here.");
		break;
	default:
		err_errno(err, -ret, "socket", "cannot probe by %s", device);
	}
	return ret;
}

static int bind_source(int fd, const char *device, const __u8 source[16])
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(source, 0, if_nametoindex(device), &ss);

	return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device) + 1) ?:
	       bind(fd, (struct sockaddr *)&ss, len);
}

/*
 * Packets leave by the device. Answers may come by another one: a host with several uplinks
 * may have the address on any of them. An address in a VRF is one to sockets of its devices only.
 */
static int aim(int fd, const char *device, const __u8 source[16])
{
	unsigned int ifindex = if_nametoindex(device);
	bool v4 = addr_is_v4(source);
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(source, 0, ifindex, &ss);

	if (!ifindex)
		return -1;	/* ENODEV */
	if (set(fd, v4 ? SOL_IP : SOL_IPV6, v4 ? IP_UNICAST_IF : IPV6_UNICAST_IF, htonl(ifindex)))
		return -1;
	return bind(fd, (struct sockaddr *)&ss, len) ? bind_source(fd, device, source) : 0;
}

int probe_source_check(const char *device, const __u8 source[16], struct err *err)
{
	int fd = socket(addr_is_v4(source) ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	if (fd < 0 || bind_source(fd, device, source))
		ret = open_fail(device, source, err);
	if (fd >= 0)
		close(fd);
	return ret;
}

bool probe_source_is_own(const char *device, const __u8 source[16])
{
	struct err err = {};

	return !probe_source_check(device, source, &err);
}

int probe_open(struct probe_socket *sock, const char *device,
	       const __u8 source[16], struct err *err)
{
	bool v4 = addr_is_v4(source);
	int fd, ret;

	fd = socket(v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP);
	if (fd < 0)
		return open_fail(device, source, err);
	if (drop_packets(fd) || configure(fd, v4) || aim(fd, device, source)) {
		ret = open_fail(device, source, err);
		close(fd);
		return ret;
	}
	sock->fd = fd;
	memcpy(sock->source, source, 16);
	return 0;
}

void probe_close(struct probe_socket *sock)
{
	close(sock->fd);
	sock->fd = -1;
}

static __u32 sum_words(__u32 sum, const __u8 *data, size_t len)
{
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += data[i] << 8 | data[i + 1];
	return sum;
}

/* RFC 768, RFC 8200 8.1. The kernel writes none for a raw UDP socket. */
static __u16 udp_checksum(const __u8 *source, const __u8 *peer, const __u8 *udp, size_t len)
{
	size_t skip = addr_is_v4(peer) ? 12 : 0;
	__u32 sum = IPPROTO_UDP + len;

	sum = sum_words(sum, source + skip, 16 - skip);
	sum = sum_words(sum, peer + skip, 16 - skip);
	sum = sum_words(sum, udp, len);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum ?: 0xffff;
}

static void put_u16(__u8 *at, __u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

unsigned int probe_ttl(enum probe_kind kind, unsigned int hop, unsigned int leaf_hop)
{
	if (kind == PROBE_LEAF || kind == PROBE_QPN_LEAF || kind == PROBE_PEER)
		return leaf_hop;
	return hop - (kind == PROBE_BEFORE);
}

void probe_build(struct probe_packet *packet, const struct probe_socket *sock,
		 const __u8 peer[16], enum probe_kind kind, unsigned int ttl,
		 __u16 port, __u32 dqpn, __u64 cookie)
{
	struct rocesteer_bth bth = {
		.opcode = RESERVED_OPCODE,
		.dqpn = htonl(dqpn & ROCESTEER_QPN_MASK),
	};
	bool to_peer = kind == PROBE_NEAR || kind == PROBE_PEER;
	__u8 *udp = packet->data;

	memset(packet, 0, sizeof(*packet));
	memcpy(packet->peer, peer, 16);
	packet->ttl = ttl;
	packet->len = PADDING + 4 * kind;
	put_u16(udp, port);
	put_u16(udp + 2, to_peer ? UNUSED_PORT : ROCESTEER_ROCE_PORT);
	put_u16(udp + 4, packet->len);
	memcpy(udp + PROBE_UDP_HEADER, &bth, sizeof(bth));
	memcpy(udp + COOKIE, &cookie, sizeof(cookie));
	put_u16(udp + 6, udp_checksum(sock->source, peer, udp, packet->len));
}

/* Each answer also leaves an error that would fail a send or wake a poll. */
static void clear_error(const struct probe_socket *sock)
{
	socklen_t len = sizeof(int);
	int saved = errno, pending;

	getsockopt(sock->fd, SOL_SOCKET, SO_ERROR, &pending, &len);
	errno = saved;
}

int probe_send(const struct probe_socket *sock, const struct probe_packet *packet)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {};
	bool v4 = addr_is_v4(packet->peer);
	struct iovec iov = { (void *)packet->data, packet->len };
	struct sockaddr_storage ss;
	struct msghdr msg = {
		.msg_name = &ss,
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	msg.msg_namelen = addr_to_sockaddr(packet->peer, 0, 0, &ss);
	cmsg->cmsg_level = v4 ? SOL_IP : SOL_IPV6;
	cmsg->cmsg_type = v4 ? IP_TTL : IPV6_HOPLIMIT;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &packet->ttl, sizeof(int));
	clear_error(sock);
	return sendmsg(sock->fd, &msg, 0) < 0 ? -errno : 0;
}

static int answer_type(const struct sock_extended_err *ee, enum probe_answer_type *type)
{
	bool v4 = ee->ee_origin == SO_EE_ORIGIN_ICMP;

	if (!v4 && ee->ee_origin != SO_EE_ORIGIN_ICMP6)
		return -ENOMSG;
	if (ee->ee_type == (v4 ? ICMP_TIME_EXCEEDED : ICMP6_TIME_EXCEEDED) && ee->ee_code == 0)
		*type = PROBE_TIME_EXCEEDED;
	else if (ee->ee_type != (v4 ? ICMP_DEST_UNREACH : ICMP6_DST_UNREACH))
		return -ENOMSG;
	else if (ee->ee_code == (v4 ? ICMP_PORT_UNREACH : ICMP6_DST_UNREACH_NOPORT))
		*type = PROBE_PORT_UNREACHABLE;
	else
		*type = PROBE_UNREACHABLE;
	return 0;
}

static int parse_answer(struct msghdr *msg, struct probe_answer *answer)
{
	struct cmsghdr *cmsg;

	if (addr_from_sockaddr(msg->msg_name, answer->peer))
		return -ENOMSG;
	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		const struct sock_extended_err *ee = (void *)CMSG_DATA(cmsg);

		if (!(cmsg->cmsg_level == SOL_IP &&
		      cmsg->cmsg_type == IP_RECVERR) &&
		    !(cmsg->cmsg_level == SOL_IPV6 && cmsg->cmsg_type == IPV6_RECVERR))
			continue;
		return answer_type(ee, &answer->type) ?:
		       (addr_from_sockaddr(SO_EE_OFFENDER(ee), answer->from) ? -ENOMSG : 0);
	}
	return -ENOMSG;
}

int probe_receive(const struct probe_socket *sock, struct probe_answer *answer)
{
	char control[512] __aligned(8);
	struct iovec iov = { answer->quote, sizeof(answer->quote) };
	struct sockaddr_storage ss = {};
	struct msghdr msg = {
		.msg_name = &ss,
		.msg_namelen = sizeof(ss),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len;
	int ret;

	len = recvmsg(sock->fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT);
	if (len < 0 && errno == EAGAIN)
		clear_error(sock);
	if (len < 0)
		return errno == EINTR ? -ENOMSG : -errno;
	if (len < PROBE_UDP_HEADER)
		return -ENOMSG;
	answer->len = len;
	ret = parse_answer(&msg, answer);
	/* That this host cannot send says nothing of routers. */
	if (!ret && answer->type == PROBE_UNREACHABLE && !addr_compare(answer->from, sock->source))
		return -ENOMSG;
	return ret;
}

/* RFC 792 has 8 bytes quoted, RFC 1812 and RFC 4443 all that there is. */
enum probe_match probe_match(const struct probe_packet *packet, const struct probe_answer *answer)
{
	size_t len = answer->len < packet->len ? answer->len : packet->len;

	if (addr_compare(packet->peer, answer->peer) || memcmp(packet->data, answer->quote, len))
		return PROBE_OTHER;
	return len < PADDING ? PROBE_SHORT : PROBE_OURS;
}
