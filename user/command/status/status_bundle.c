// SPDX-License-Identifier: GPL-2.0
/* rocesteer status --bundle: the parts of a fault report, in one file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "status.h"

#define NAME	"rocesteer-status"

/* $1 is this program, $2 the job or file. */
static const struct {
	const char *file;
	const char *command;
} parts[] = {
	{ "version.json", "\"$1\" --json --version" },
	{ "jobs.json", "\"$1\" --json job list" },
	{ "flows.json", "\"$1\" --json flow show" },
	{ "stat.json", "\"$1\" --json stat" },
	{ "top.json", "\"$1\" --json top --count 1" },
	{ "uname.txt", "uname -a" },
	{ "module.txt", "modinfo rocesteer; cd /sys/module/rocesteer && grep . parameters/*" },
	{ "dmesg.txt", "dmesg | grep -F rocesteer" },
	{ "bpf-net.txt", "bpftool net show" },
	{ "bpf-prog.txt", "bpftool prog show | grep -A 4 -F rocesteer" },
	{ "bpf-map.txt", "for pin in \"$2\"/rs_*; do bpftool map show pinned \"$pin\"; done" },
	{ "link.txt", "ip -d -s link show; ip address show; ip route show table all" },
	{ "rdma.txt", "rdma link show" },
	{ "firewall.txt", "nft list ruleset" },
	{ "job-files.txt", "tail -n +1 /etc/rocesteer/jobs.d/*" },
};

/* Run a command in @dir, its output in @file there: what it says of itself as well. */
static int run(const char *dir, const char *file, const char *command, const char *about)
{
	char self[512] = "";
	int status, fd;
	pid_t pid;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		fd = chdir(dir) ? -1 : open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", command, "sh", self, about, NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) < 0 ? -errno : status;
}

static void add(struct json_object *files, const char *dir, const char *file,
		const char *command, const char *about)
{
	if (run(dir, file, command, about) >= 0)
		json_object_array_add(files, json_object_new_string(file));
}

/* Port map and tables of each job. */
static void add_jobs(struct status *st, struct json_object *files, const char *dir)
{
	char file[64], id[16];
	size_t i;

	for (i = 0; i < st->jobs.nr; i++) {
		const struct status_job *item = st->jobs.item[i];
		struct json_object *map = json_object_object_get(item->record, "port_map");

		snprintf(id, sizeof(id), "%u", item->id);
		snprintf(file, sizeof(file), "job-%s.json", id);
		add(files, dir, file, "\"$1\" --json job show --job \"$2\"", id);
		snprintf(file, sizeof(file), "port-map-%s.json", id);
		if (map)
			add(files, dir, file, "cat -- \"$2\"", json_object_get_string(map));
	}
}

static int add_status(struct status *st, struct json_object *files, const char *dir)
{
	struct file_new new;
	char file[128];
	int ret = file_begin(&new);

	if (ret)
		return ret;
	snprintf(file, sizeof(file), "%s/status.json", dir);
	fprintf(new.out, "%s\n",
		json_object_to_json_string_ext(st->root, JSON_C_TO_STRING_PRETTY |
					       JSON_C_TO_STRING_NOSLASHESCAPE));
	ret = file_replace(file, &new);
	json_object_array_add(files, json_object_new_string("status.json"));
	return ret < 0 ? ret : 0;
}

/* Return: 0, -EIO where tar fails, or why its output cannot be written. */
static int write_tar(int fd, const char *top)
{
	char command[96], buf[65536];
	int ret = 0, status;
	size_t len;
	FILE *tar;

	snprintf(command, sizeof(command), "exec tar -C %s -cz " NAME, top);
	tar = popen(command, "re");
	if (!tar)
		return -errno;
	while (!ret && (len = fread(buf, 1, sizeof(buf), tar)))
		ret = file_write(fd, buf, len);
	status = pclose(tar);
	return ret ?: status ? -EIO : 0;
}

/* For root only: it has addresses and names of jobs. It is whole, or not there. */
static int pack(const char *top, const char *file)
{
	char temp[PATH_MAX];
	int fd, ret;

	if (snprintf(temp, sizeof(temp), "%s.XXXXXX", file) >= (int)sizeof(temp))
		return -ENAMETOOLONG;
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write_tar(fd, top);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(temp, file))
		ret = -errno;
	if (ret)
		unlink(temp);
	return ret;
}

/* A device or a pipe is not replaced by a file. */
static int check_file(const char *file, struct err *err)
{
	struct stat st;

	if (!strcmp(file, "-"))
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--bundle -: needs a file, as the status is printed on standard output");
	if (!stat(file, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err_set(err, EXIT_BAD_INPUT, "usage", "--bundle: %s is not a regular file",
			       file);
	return file_has_place(file);
}

static int fill(struct status *st, struct json_object *files, const char *dir)
{
	const char *pins = st->pins[0] ? st->pins : "/sys/fs/bpf/rocesteer";
	unsigned int i;

	if (mkdir(dir, 0700))
		return -errno;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		add(files, dir, parts[i].file, parts[i].command, pins);
	add_jobs(st, files, dir);
	return add_status(st, files, dir);
}

int status_bundle(struct status *st, const char *file, struct err *err)
{
	char top[] = "/tmp/rocesteer-XXXXXX", dir[64];
	struct json_object *files = json_object_new_array();
	int ret = check_file(file, err);

	if (!ret && !mkdtemp(top))
		ret = -errno;
	snprintf(dir, sizeof(dir), "%s/" NAME, top);
	if (!ret) {
		ret = fill(st, files, dir) ?: pack(top, file);
		run("/", "/dev/null", "rm -r -- \"$2\"", top);
	}
	if (ret) {
		json_object_put(files);
		return err->code ? ret :
		       err_errno(err, -ret, "bundle", "cannot write %s", file);
	}
	out_string(st->root, "bundle", file);
	json_object_object_add(st->root, "files", files);
	return 0;
}
