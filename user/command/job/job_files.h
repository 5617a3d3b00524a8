/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that are described by files of a directory, and loaded by the daemon. */
#ifndef ROCESTEER_JOB_FILES_H
#define ROCESTEER_JOB_FILES_H

#include <json-c/json.h>

#include "base/base.h"

/**
 * struct job_files - the files of a directory
 * @dir: the directory
 * @files: of struct job_file, by name
 */
struct job_files {
	const char *dir;
	struct set files;
};

/**
 * job_files_read() - load what the files say
 * @jobs: @dir is set
 * @all: read all files: a job that is loaded gets what its file says now, and a job whose
 *	file is gone is unloaded. Else only what could not be loaded before is tried again
 * @emit: called for each job that is loaded or unloaded, and where a file fails for another
 *	reason than before; takes the event
 * @arg: passed to @emit
 *
 * rocesteer-daemon(8) describes the files, NAME.json. An error in one file does not affect the
 * others. A signal of interrupt_pending() ends the work early.
 *
 * Return: is there a file whose job could not be loaded?
 */
bool job_files_read(struct job_files *jobs, bool all,
		    void (*emit)(struct json_object *event, void *arg), void *arg);

/**
 * job_files_check() - check what the files say, and change nothing
 * @dir: the directory
 * @array: gets an object for each file: its number "job", or "code", "message" and "hint"
 * @err: filled if the directory cannot be read
 *
 * Each file is checked against what is loaded, and its number against the other files.
 *
 * Return: the number of wrong files, or a negative errno.
 */
int job_files_check(const char *dir, struct json_object *array, struct err *err);

/* Is a file of this name read? Packages leave README and their old files beside. */
bool job_file_is(const char *name);

void job_files_free(struct job_files *jobs);

#endif /* ROCESTEER_JOB_FILES_H */
