// SPDX-License-Identifier: GPL-2.0
#include "event_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base.h"
#include "steer/steer.h"
#include "event.h"

#define MAX_CLIENTS	64

/**
 * struct client - a client
 * @source: socket; fd -1: the entry is free
 * @server: its server
 * @lost: it missed an event
 */
struct client {
	struct source source;
	struct event_socket *server;
	bool lost;
};

/**
 * struct event_socket - a server
 * @listen: listening socket
 * @dir: directory, locked until clients can connect; then -1
 * @loop: event loop
 * @address: address of the socket
 * @snapshot: called for new clients
 * @arg: passed to @snapshot
 * @newcomer: the client that @snapshot is called for, or NULL
 * @client: clients
 */
struct event_socket {
	struct source listen;
	int dir;
	struct loop *loop;
	struct sockaddr_un address;
	void (*snapshot)(struct event_socket *server, void *arg);
	void *arg;
	struct client *newcomer;
	struct client client[MAX_CLIENTS];
};

static int find_address(struct sockaddr_un *address, struct err *err)
{
	__u64 cookie;
	int ret = netns_cookie(&cookie, err);

	*address = (struct sockaddr_un) { .sun_family = AF_UNIX };
	if (!ret)
		snprintf(address->sun_path, sizeof(address->sun_path),
			 EVENT_SOCKET_DIR "/netns-%llu.sock", cookie);
	return ret;
}

static int try_connect(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int event_socket_connect(void)
{
	struct sockaddr_un address;

	return find_address(&address, NULL) ?: try_connect(&address);
}

static void drop(struct client *client)
{
	loop_remove(client->server->loop, &client->source);
	close(client->source.fd);
	client->source.fd = -1;
}

/* A line is shorter than the socket's buffer, so it is sent as a whole or not at all. */
static void send_line(struct client *client, const char *line)
{
	struct iovec iov[] = { { (void *)line, strlen(line) }, { "\n", 1 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	if (sendmsg(client->source.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		client->lost = false;
	else if (errno == EAGAIN)
		client->lost = true;
	else
		drop(client);
}

static void send_lost(struct client *client)
{
	struct json_object *event = event_new("lost");

	send_line(client, event_line(event));
	json_object_put(event);
}

void event_socket_send(struct event_socket *server, struct json_object *event)
{
	const char *line = event_line(event);
	struct client *client;

	for (client = server->client; client < server->client + MAX_CLIENTS;
	     client++) {
		if (client->source.fd < 0 || (server->newcomer && server->newcomer != client))
			continue;
		if (client->lost)
			send_lost(client);
		if (client->source.fd >= 0 && !client->lost)
			send_line(client, line);
	}
}

/* A client sends nothing: if its socket can be read, the client has gone or is wrong. */
static int client_ready(void *arg)
{
	drop(arg);
	return 0;
}

static int accept_client(void *arg)
{
	struct event_socket *server = arg;
	struct client *client = server->client;
	int fd;

	fd = accept4(server->listen.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return 0;
	while (client < server->client + MAX_CLIENTS && client->source.fd >= 0)
		client++;
	if (client == server->client + MAX_CLIENTS) {
		close(fd);
		return 0;
	}
	*client = (struct client) {
		.source = { .fd = fd, .ready = client_ready, .arg = client },
		.server = server,
	};
	if (loop_add(server->loop, &client->source)) {
		close(fd);
		client->source.fd = -1;
		return 0;
	}
	server->newcomer = client;
	server->snapshot(server, server->arg);
	server->newcomer = NULL;
	return 0;
}

/* The directory is locked: of two daemons that start at once, one fails. */
static int claim(struct event_socket *server, struct err *err)
{
	int fd, ret = try_connect(&server->address);

	if (ret >= 0) {
		close(ret);
		err_set(err, EXIT_FAILED, "running",
			"the daemon of this network namespace runs already");
		return -EEXIST;
	}
	unlink(server->address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Nobody connects before listen(). */
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&server->address,
			     sizeof(server->address)) &&
	    !chmod(server->address.sun_path, 0600))
		return fd;
	ret = err_errno(err, errno, "socket", "cannot bind %s", server->address.sun_path);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Root's alone, because whoever can open the directory can lock it. */
static int open_dir(struct err *err)
{
	int fd, ret;

	if (mkdir(EVENT_SOCKET_DIR, 0700) && errno != EEXIST)
		return err_errno(err, errno, "socket", "cannot create %s", EVENT_SOCKET_DIR);
	fd = open(EVENT_SOCKET_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !fchmod(fd, 0700))
		return fd;
	ret = err_errno(err, errno, "socket", "cannot open %s", EVENT_SOCKET_DIR);
	if (fd >= 0)
		close(fd);
	return ret;
}

int event_socket_open(struct event_socket **out, struct loop *loop,
		      void (*snapshot)(struct event_socket *server, void *arg),
		      void *arg, struct err *err)
{
	struct event_socket *server = calloc(1, sizeof(*server));
	int ret, i;

	if (!server)
		return -ENOMEM;
	server->loop = loop;
	server->snapshot = snapshot;
	server->arg = arg;
	for (i = 0; i < MAX_CLIENTS; i++)
		server->client[i].source.fd = -1;
	server->dir = open_dir(err);
	ret = server->dir < 0 ? server->dir :
	      lock_take(server->dir, LOCK_EX, EVENT_SOCKET_DIR, err) ?:
	      find_address(&server->address, err) ?: claim(server, err);
	if (ret < 0) {
		if (server->dir >= 0)
			close(server->dir);
		free(server);
		return ret;
	}
	server->listen = (struct source) { .fd = ret, .ready = accept_client,
					   .arg = server };
	*out = server;
	return 0;
}

int event_socket_listen(struct event_socket *server, struct err *err)
{
	int ret;

	if (listen(server->listen.fd, 8))
		return err_errno(err, errno, "socket", "cannot listen on %s",
				 server->address.sun_path);
	ret = loop_add(server->loop, &server->listen);
	close(server->dir);
	server->dir = -1;
	return ret;
}

void event_socket_close(struct event_socket *server)
{
	int i;

	if (!server)
		return;
	for (i = 0; i < MAX_CLIENTS; i++)
		if (server->client[i].source.fd >= 0)
			drop(&server->client[i]);
	loop_remove(server->loop, &server->listen);
	unlink(server->address.sun_path);
	close(server->listen.fd);
	if (server->dir >= 0)
		close(server->dir);
	free(server);
}
