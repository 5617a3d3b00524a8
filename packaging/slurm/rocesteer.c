// SPDX-License-Identifier: GPL-2.0
/*
 * SPANK plugin: keep a job that asks for it with --rocesteer to its slice, on each
 * of its nodes, from before it starts until it ends. PrologSlurmctld has given it
 * the slice by then.
 *
 * Arguments in plugstack.conf:
 *	cluster=FILE	the cluster file, as nodes see it
 *	paths=FILE[,..]	the node's port map; with several NICs, of each of them
 *	command=FILE	the rocesteer command; absent: from PATH
 *	--OPTION ..	of rocesteer job load; absent: --all
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/types.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#define MAX_ARGS	32
#define JOB_BITS	26	/* of Slurm's numbers */

SPANK_PLUGIN(rocesteer, 1)

static int option_check(int val, const char *arg, int remote);

static struct spank_option option = {
	.name = "rocesteer",
	.arginfo = "auto|none",
	.usage = "Give the job a slice of the fabric (default: none).",
	.has_arg = 2,	/* optional: auto */
	.cb = option_check,
};

/* Options in plugstack.conf. */
struct config {
	const char *cluster;
	const char *paths;
	const char *command;
	char **more;		/* options of job load */
	int nr_more;
};

static bool is_asked;		/* where the job is submitted */

static bool is_auto(const char *arg)
{
	return !arg || !arg[0] || !strcmp(arg, "auto");
}

static int option_check(int val, const char *arg, int remote)
{
	(void)val;
	(void)remote;
	is_asked = is_auto(arg);
	if (is_asked || !strcmp(arg, "none"))
		return 0;
	slurm_error("--rocesteer: '%s' is neither auto nor none", arg);
	return -1;
}

int slurm_spank_init(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	return spank_option_register(spank, &option);
}

/*
 * A variable set here is SPANK_ROCESTEER for every prolog and epilog: controller and nodes
 * agree on whether the job has a slice.
 */
int slurm_spank_init_post_opt(spank_t spank, int ac, char **av)
{
	(void)ac;
	(void)av;
	if (!is_asked || spank_remote(spank))
		return 0;
	return spank_job_control_setenv(spank, "ROCESTEER", "auto", 1);
}

static int config_read(struct config *config, int ac, char **av)
{
	int i;

	*config = (struct config) { .command = "rocesteer" };
	for (i = 0; i < ac && strncmp(av[i], "--", 2); i++) {
		if (!strncmp(av[i], "cluster=", 8))
			config->cluster = av[i] + 8;
		else if (!strncmp(av[i], "paths=", 6))
			config->paths = av[i] + 6;
		else if (!strncmp(av[i], "command=", 8))
			config->command = av[i] + 8;
		else
			break;
	}
	config->more = av + i;
	config->nr_more = ac - i;
	if (config->nr_more && strncmp(config->more[0], "--", 2))
		slurm_error("rocesteer: plugstack.conf: what is '%s'?", av[i]);
	else if (!config->cluster || !config->paths)
		slurm_error("rocesteer: plugstack.conf: cluster= or paths= is missing");
	else if (config->nr_more > MAX_ARGS / 2)
		slurm_error("rocesteer: plugstack.conf: too many arguments");
	else
		return 0;
	return -1;
}

/* Read the output of a command, and drop what is too long. */
static void read_all(int fd, char *said, size_t size)
{
	char rest[512];
	size_t len = 0;
	ssize_t n;

	do {
		if (len + 1 < size)
			n = read(fd, said + len, size - 1 - len);
		else
			n = read(fd, rest, sizeof(rest));
		if (n > 0 && len + 1 < size)
			len += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	said[len] = '\0';
}

/* Run a command without a shell; @said is its first line. Return: its exit status, or -1. */
static int run(const char *const *argv, char *said, size_t size)
{
	posix_spawn_file_actions_t actions;
	int fds[2], status, error;
	pid_t pid;

	snprintf(said, size, "%s cannot be run", argv[0]);
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
	error = posix_spawnp(&pid, argv[0], &actions, NULL, (char **)argv,
			     environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!error)
		read_all(fds[0], said, size);
	said[strcspn(said, "\n")] = '\0';
	close(fds[0]);
	if (error)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Report a failure in the log, and where users and operators see it. */
static int fail(__u32 job, const char *what, char *said)
{
	char host[256] = "", comment[1024];
	const char *node = getenv("SLURMD_NODENAME");
	job_desc_msg_t change;

	if (!node && !gethostname(host, sizeof(host) - 1))
		node = host;
	snprintf(comment, sizeof(comment), "%s: %s: %s", node ?: "?", what,
		 said);
	slurm_error("rocesteer: job %u: %s", job, comment);
	slurm_init_job_desc_msg(&change);
	change.job_id = job;
	change.admin_comment = comment;
	if (slurm_update_job(&change))
		slurm_error("rocesteer: job %u: no AdminComment: %m", job);
	return -1;
}

/* The node belongs to this job alone: loaded jobs are its own, or left over. */
static int job_unload(const struct config *config, __u32 job)
{
	const char *const argv[] = {
		config->command, "job", "unload", "--all", NULL
	};
	char said[1024];

	return run(argv, said, sizeof(said)) ? fail(job, "unload", said) : 0;
}

/*
 * Has the controller taken the job back, because another node failed? Then its slice is
 * gone, and a failure here for want of the slice is no fault of this node.
 */
static bool is_taken_back(__u32 job)
{
	job_info_msg_t *info;
	bool ret;

	if (slurm_load_job(&info, job, SHOW_ALL))
		return false;
	ret = info->record_count &&
	      ((info->job_array[0].job_state & JOB_STATE_BASE) != JOB_RUNNING ||
	       (info->job_array[0].job_state & JOB_COMPLETING));
	slurm_free_job_info_msg(info);
	return ret;
}

/*
 * Load the job for one NIC. Several NICs have port maps, and numbers, of their own. Return:
 * the exit status of the command, or -1; @said is its output.
 */
static int nic_load(const struct config *config, __u32 job, __u32 nic,
		    const char *paths, char *said, size_t size)
{
	char id[16], slice[16];
	const char *argv[MAX_ARGS] = {
		config->command, "job", "load", "--job", id, "--slice-job", slice,
		"--cluster", config->cluster, "--port-map", paths,
	};
	int n = 11, i;

	snprintf(id, sizeof(id), "%u", job + (nic << JOB_BITS));
	snprintf(slice, sizeof(slice), "%u", job);
	for (i = 0; i < config->nr_more; i++)
		argv[n++] = config->more[i];
	if (!config->nr_more)
		argv[n++] = "--all";
	return run(argv, said, size);
}

static int job_load(const struct config *config, __u32 job)
{
	const char *list = config->paths;
	char said[1024];
	__u32 nic = 0;

	for (;;) {
		char paths[PATH_MAX] = "";
		size_t len = strcspn(list, ",");

		if (len < sizeof(paths))
			memcpy(paths, list, len);
		if (nic_load(config, job, nic++, paths, said, sizeof(said)))
			break;
		if (!list[len])
			return 0;
		list += len + 1;
	}
	if (is_taken_back(job)) {
		slurm_info("rocesteer: job %u was taken back: %s", job, said);
		return job_unload(config, job);
	}
	fail(job, "load", said);
	job_unload(config, job);
	return -1;
}

/* Find the job, and its options. Return: 1; 0: none; or -1. */
static int begin(spank_t spank, int ac, char **av, struct config *config,
		 __u32 *job)
{
	const char *wanted = getenv("SPANK_ROCESTEER");

	if (!wanted || strcmp(wanted, "auto"))
		return 0;
	if (spank_get_item(spank, S_JOB_ID, job) != ESPANK_SUCCESS)
		return -1;
	return config_read(config, ac, av) ?: 1;
}

int slurm_spank_job_prolog(spank_t spank, int ac, char **av)
{
	struct config config;
	__u32 job;
	int ret = begin(spank, ac, av, &config, &job);

	if (ret <= 0)
		return ret;
	return job_unload(&config, job) ?: job_load(&config, job);
}

int slurm_spank_job_epilog(spank_t spank, int ac, char **av)
{
	struct config config;
	__u32 job;
	int ret = begin(spank, ac, av, &config, &job);

	return ret <= 0 ? ret : job_unload(&config, job);
}
