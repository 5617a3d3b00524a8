/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of rocesteer status. */
#ifndef ROCESTEER_CLI_STATUS_H
#define ROCESTEER_CLI_STATUS_H

#include "groups/groups.h"
#include "portmap/portmap.h"
#include "prove/prove.h"
#include "steer/steer.h"
#include "../objects.h"
#include "../whole.h"

/* Queue pairs of a job that NICs are asked about */
#define STATUS_NIC_FLOWS	4

/**
 * struct status_job - a job of the tables
 * @id: number
 * @job: as in the tables
 * @device: name of its device, as the namespace has it, or empty
 * @flows: in the tables
 * @whole: flows that stay whole
 * @divided: flows that are split
 * @retransmissions: rounds of go-back-N of these
 * @imbalance: of its worst group, in hundredths; 0: nothing was sent
 * @no_port: paths without a port, of all groups
 * @down: paths that are held down, of all groups
 * @observed: groups whose flows are observed, not steered
 * @unknown: observed flows whose path is not known
 * @met: peers that were met in the tables
 * @ports: of all peers, without those of dead paths
 * @sample: some of them, with the ports in use
 * @steered: queue pairs that are steered
 * @nic: some of them
 * @source: the last of the addresses that flows have
 * @alike: do its flows load paths alike, if they stay whole?
 * @record: what it was loaded from, or NULL
 */
struct status_job {
	__u32 id;
	struct rocesteer_job job;
	char device[IF_NAMESIZE];
	__u64 flows;
	__u64 whole;
	__u64 divided;
	__u64 retransmissions;
	__u64 imbalance;
	__u32 no_port;
	__u32 down;
	__u32 observed;
	__u32 unknown;
	size_t met;
	__u64 ports;
	struct portmap sample;
	size_t steered;
	struct prove_flow nic[STATUS_NIC_FLOWS];
	__u8 source[16];
	struct whole alike;
	struct json_object *record;
};

/**
 * struct status - what is looked at, and what is found
 * @args: arguments
 * @jobs: of struct status_job
 * @steer: the tables, or NULL where nothing is loaded
 * @pins: directory of the tables, empty where there are none
 * @genl: the module, or NULL
 * @root: the result
 * @host: its part about the host
 * @findings: its array of findings
 * @unseen: its array of what was not looked at, and why
 * @fault: a finding needs a person
 */
struct status {
	const struct cli_args *args;
	struct set jobs;
	struct steer *steer;
	char pins[64];
	struct genl *genl;
	struct json_object *root;
	struct json_object *host;
	struct json_object *findings;
	struct json_object *unseen;
	bool fault;
};

enum status_severity {
	STATUS_NOTE,
	STATUS_ERROR,	/* needs a person: the exit status is 1 */
};

/**
 * status_find() - note a finding
 * @st: result
 * @severity: enum status_severity
 * @code: for programs
 * @job: that it is about, or 0
 * @fmt: for people, printf style: one line without a full stop
 *
 * Return: the finding, for status_advise() and more fields.
 */
struct json_object *status_find(struct status *st, enum status_severity severity,
				const char *code, __u32 job, const char *fmt, ...)
	__printf(5, 6);

/* Add advice to a finding. */
void status_advise(struct json_object *finding, const char *fmt, ...)
	__printf(2, 3);

/* Note a check that could not be made, and why. */
void status_unseen(struct status *st, const char *fmt, ...)
	__printf(2, 3);

/* Take the jobs of the tables. Return: 0 or a negative errno. */
int status_jobs_read(struct status *st, struct err *err);

/* Show them, and find what is wrong with them. */
void status_jobs_judge(struct status *st);

void status_jobs_free(struct status *st);

/* Do the ports of a job take their paths? Behind steer_close(). */
void status_probe(struct status *st);

/* A flow of the tables: take it into the sample of its job, if its queue pair is steered. */
void status_nic_sample(struct status *st, struct status_job *item,
		       const struct rocesteer_flow_key *key,
		       const struct rocesteer_flow_path *path);

/* Ask the NICs about the sample; @job is the job's part of the result. */
void status_nic(struct status *st, struct status_job *item, struct json_object *job);

/* Versions, module, daemon, tables, job files. */
void status_host(struct status *st);

/* Find other programs and settings of this host that could change packets. */
void status_disturb(struct status *st);

/**
 * status_bundle() - pack what a report of a fault needs
 * @st: of which everything else is done
 * @file: a tar archive, compressed by gzip
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int status_bundle(struct status *st, const char *file, struct err *err);

/**
 * status_hosts() - show the status of many hosts
 * @args: arguments
 * @file: lists the hosts, one a line. The result of a host is read from HOST.json beside it, or
 *	asked for by ssh
 * @no_probe: hosts that are asked do not probe
 * @err: filled on failure
 *
 * Return: an exit status, EXIT_FAILED where a host has an error or does not answer; or a
 * negative errno.
 */
int status_hosts(const struct cli_args *args, const char *file, bool no_probe, struct err *err);

#endif /* ROCESTEER_CLI_STATUS_H */
