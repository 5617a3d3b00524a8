// SPDX-License-Identifier: GPL-2.0
#include "feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "event.h"
#include "lock.h"
#include "netns.h"

#define MAX_CLIENTS	64

/**
 * struct client - one that listens
 * @source: its socket; fd -1: the place is free
 * @feed: of this feed
 * @lost: it did not read in time
 */
struct client {
	struct source source;
	struct feed *feed;
	bool lost;
};

/**
 * struct feed - the socket and who listens
 * @listen: the socket
 * @loop: where they are waited for
 * @address: of the socket
 * @greet: for new clients
 * @arg: passed to @greet
 * @greeted: the one that @greet is called for, or NULL
 * @client: all others
 */
struct feed {
	struct source listen;
	struct loop *loop;
	struct sockaddr_un address;
	void (*greet)(struct feed *feed, void *arg);
	void *arg;
	struct client *greeted;
	struct client client[MAX_CLIENTS];
};

static int find_address(struct sockaddr_un *address, struct err *err)
{
	__u64 cookie;
	int ret = netns_cookie(&cookie, err);

	*address = (struct sockaddr_un) { .sun_family = AF_UNIX };
	if (!ret)
		snprintf(address->sun_path, sizeof(address->sun_path),
			 FEED_DIR "/netns-%llu.sock", cookie);
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

int feed_connect(void)
{
	struct sockaddr_un address;

	return find_address(&address, NULL) ?: try_connect(&address);
}

static void drop(struct client *client)
{
	loop_remove(client->feed->loop, &client->source);
	close(client->source.fd);
	client->source.fd = -1;
}

/* A line goes as a whole or not at all: it is shorter than a socket's buffer. */
static void tell(struct client *client, const char *line)
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

static void tell_lost(struct client *client)
{
	struct json_object *event = event_new("lost");

	tell(client, event_line(event));
	json_object_put(event);
}

void feed_tell(struct feed *feed, struct json_object *event)
{
	const char *line = event_line(event);
	struct client *client;

	for (client = feed->client; client < feed->client + MAX_CLIENTS;
	     client++) {
		if (client->source.fd < 0 ||
		    (feed->greeted && feed->greeted != client))
			continue;
		if (client->lost)
			tell_lost(client);
		if (client->source.fd >= 0 && !client->lost)
			tell(client, line);
	}
}

bool feed_is_heard(const struct feed *feed)
{
	int i;

	for (i = 0; i < MAX_CLIENTS; i++)
		if (feed->client[i].source.fd >= 0)
			return true;
	return false;
}

/* Clients have nothing to say: whatever can be read, it ends here. */
static int client_ready(void *arg)
{
	drop(arg);
	return 0;
}

static int greet(void *arg)
{
	struct feed *feed = arg;
	struct client *client = feed->client;
	int fd;

	fd = accept4(feed->listen.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return 0;
	while (client < feed->client + MAX_CLIENTS && client->source.fd >= 0)
		client++;
	if (client == feed->client + MAX_CLIENTS) {
		close(fd);
		return 0;
	}
	*client = (struct client) {
		.source = { .fd = fd, .ready = client_ready, .arg = client },
		.feed = feed,
	};
	if (loop_add(feed->loop, &client->source)) {
		close(fd);
		client->source.fd = -1;
		return 0;
	}
	feed->greeted = client;
	feed->greet(feed, feed->arg);
	feed->greeted = NULL;
	return 0;
}

/* Under the lock of the directory: of two daemons that start one is first. */
static int claim(struct feed *feed, struct err *err)
{
	int fd, ret = try_connect(&feed->address);

	if (ret >= 0) {
		close(ret);
		err_set(err, EXIT_FAILED, "running",
			"the daemon of this network namespace runs already");
		return -EEXIST;
	}
	unlink(feed->address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Nobody connects before listen(). */
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&feed->address,
			     sizeof(feed->address)) &&
	    !chmod(feed->address.sun_path, 0600) && !listen(fd, 8))
		return fd;
	ret = err_errno(err, errno, "socket", "cannot listen on %s",
			feed->address.sun_path);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Root's alone: who can open the directory can lock it. */
static int open_dir(struct err *err)
{
	int fd, ret;

	if (mkdir(FEED_DIR, 0700) && errno != EEXIST)
		return err_errno(err, errno, "socket", "cannot create %s",
				 FEED_DIR);
	fd = open(FEED_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !fchmod(fd, 0700))
		return fd;
	ret = err_errno(err, errno, "socket", "cannot open %s", FEED_DIR);
	if (fd >= 0)
		close(fd);
	return ret;
}

int feed_open(struct feed **out, struct loop *loop,
	      void (*greet_fn)(struct feed *feed, void *arg), void *arg,
	      struct err *err)
{
	struct feed *feed = calloc(1, sizeof(*feed));
	int dir, ret, i;

	if (!feed)
		return -ENOMEM;
	feed->loop = loop;
	feed->greet = greet_fn;
	feed->arg = arg;
	for (i = 0; i < MAX_CLIENTS; i++)
		feed->client[i].source.fd = -1;
	dir = open_dir(err);
	ret = dir < 0 ? dir : lock_take(dir, FEED_DIR, err) ?:
	      find_address(&feed->address, err) ?: claim(feed, err);
	if (dir >= 0)
		close(dir);
	feed->listen = (struct source) { .fd = ret, .ready = greet,
					 .arg = feed };
	if (ret >= 0)
		ret = loop_add(loop, &feed->listen);
	if (ret < 0) {
		free(feed);
		return ret;
	}
	*out = feed;
	return 0;
}

void feed_close(struct feed *feed)
{
	int i;

	if (!feed)
		return;
	for (i = 0; i < MAX_CLIENTS; i++)
		if (feed->client[i].source.fd >= 0)
			drop(&feed->client[i]);
	loop_remove(feed->loop, &feed->listen);
	unlink(feed->address.sun_path);
	close(feed->listen.fd);
	free(feed);
}
