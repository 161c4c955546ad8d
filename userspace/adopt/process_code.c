/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from /proc the code of a process that has not executed an instruction yet. */
#include "adopt/process_code.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "adopt/code.h"
#include "audit/record/arguments.h"
#include "base/hex.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "bpf/abi.h"
#include "launch/environment.h"

/* The kernel's limit for arguments and environment together. */
#define TEXT_MAX (8u << 20)

static int read_text(pid_t pid, const char *file, char **ret_text, size_t *ret_size,
		     struct failure *failure)
{
	int r = proc_read(pid, file, TEXT_MAX, ret_text, ret_size);

	return r < 0 ? failure_set(failure, r == -ENOENT ? ESRCH : r, "cannot read /proc/%d/%s: %m",
				   pid, file)
		     : 0;
}

/* Splits NUL-terminated strings into a NULL-terminated array. */
static char **split(char *text, size_t size, size_t *ret_count)
{
	size_t count = 0;
	char **list;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\0';
	if (size > 0 && text[size - 1] != '\0')
		count++;
	list = calloc(count + 1, sizeof(*list));
	for (size_t i = 0; list && i < count; i++) {
		list[i] = text;
		text += strlen(text) + 1;
	}
	*ret_count = count;
	return list;
}

/* --- code --------------------------------------------------------------------------------- */

bool process_code_claimed(const char *path, unsigned char ret_digest[32])
{
	static const char prefix[] = "tmp_code_";
	const char *name = strrchr(path, '/');
	char digits[65];

	name = name ? name + 1 : path;
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	name += sizeof(prefix) - 1;
	if (strspn(name, "0123456789abcdef") != 64 || (name[64] != '.' && name[64] != '\0'))
		return false;
	memcpy(digits, name, 64);
	digits[64] = '\0';
	return hex_decode(digits, ret_digest, 32) >= 0;
}

static int read_ids(pid_t pid, struct process_code *code, struct failure *failure)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (stat(path, &st) < 0)
		return failure_set(failure, ESRCH, "process %d has exited", pid);
	code->uid = st.st_uid;
	code->gid = st.st_gid;
	return 0;
}

static int hash_arguments(const char *text, size_t size, struct process_code *code)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	int r = hash ? sha256_update(hash, text, size) : -ENOMEM;

	code->arguments_length = size;
	return r < 0 ? r : sha256_finish(hash, code->arguments_digest);
}

static int keep_arguments(char **argv, size_t argc, struct process_code *code)
{
	_cleanup_(freep) bool *carries = calloc(argc, sizeof(*carries));
	char **kept = calloc(argc + 1, sizeof(*kept));

	if (!carries || !kept) {
		free(kept);
		return -ENOMEM;
	}
	arguments_mark_code(argc, (const char *const *)argv, carries);
	for (size_t i = 0; i < argc; i++)
		if (!carries[i])
			kept[i] = strdup(argv[i]);
	code->arguments = kept;
	return 0;
}

/* True if the process has another mount namespace than the daemon, or if that is unknown. */
static bool other_mounts(pid_t pid)
{
	char path[64];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return stat(path, &its) < 0 || stat("/proc/self/ns/mnt", &own) < 0 ||
	       its.st_ino != own.st_ino || its.st_dev != own.st_dev;
}

/*
 * The file is opened by name. Only the process itself could replace it, and that does not run yet.
 */
static int find_code(pid_t pid, char **argv, size_t argc, struct process_code *code,
		     struct failure *failure)
{
	_cleanup_(closep) int workdir = proc_open(pid, "cwd", O_PATH | O_DIRECTORY);
	_cleanup_(closep) int input = proc_open(pid, "fd/0", O_PATH);
	_cleanup_(closep) int root = proc_open(pid, "root", O_PATH | O_DIRECTORY);
	char path[PATH_MAX] = "/";
	struct code_question question = {
		.argc = argc,
		.argv = argv,
		.workdir = path,
		.workdir_fd = workdir,
		.stdin_fd = input,
		.elsewhere = other_mounts(pid),
		.root_fd = root,
	};
	unsigned char claimed[32];
	struct code found;
	int r;

	(void)proc_readlink(pid, "cwd", path);
	r = code_identify(&question, &found, failure);
	if (r < 0)
		return r;
	code->code = found.audit;
	code->code_fd = found.fd;
	code->language = found.language;
	code->contradicted = found.audit.source == AUDIT_CODE_FILE && found.audit.have_digest &&
			     process_code_claimed(found.audit.path, claimed) &&
			     memcmp(claimed, found.audit.digest, sizeof(claimed)) != 0;
	return 0;
}

int process_code_read(pid_t pid, bool arguments, struct process_code *ret_code,
		      struct failure *failure)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char **argv = NULL;
	struct process_code code = {};
	size_t size, argc = 0;
	int r;

	r = read_ids(pid, &code, failure);
	if (r == 0)
		r = read_text(pid, "cmdline", &text, &size, failure);
	if (r < 0)
		return r;
	argv = split(text, size, &argc);
	if (!argv)
		return failure_set(failure, ENOMEM, "%m");
	if (argc == 0)
		return failure_set(failure, ESRCH, "process %d has no arguments", pid);
	code.argument_count = argc;
	code.program = strdup(argv[0]);
	r = code.program ? hash_arguments(text, size, &code) : -ENOMEM;
	if (r == 0 && arguments)
		r = keep_arguments(argv, argc, &code);
	if (r < 0)
		failure_set(failure, r, "the arguments of process %d: %m", pid);
	if (r == 0)
		r = find_code(pid, argv, argc, &code, failure);
	if (r < 0) {
		free(code.program);
		for (size_t i = 0; code.arguments && i < argc; i++)
			free(code.arguments[i]);
		free(code.arguments);
		return r;
	}
	*ret_code = code;
	return 0;
}

/* --- environment -------------------------------------------------------------------------- */

/* Finds the environment's address: fields 50 and 51 of /proc/PID/stat. */
static int find_environment(pid_t pid, unsigned long *ret_start, struct failure *failure)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	char *at;
	int r = read_text(pid, "stat", &text, &size, failure);

	if (r < 0)
		return r;
	at = strrchr(text, ')');
	/* The field after the name is the third. */
	for (int field = 2; at && field < 50; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return failure_set(failure, EBADMSG, "/proc/%d/stat is too short", pid);
	*ret_start = strtoul(at, NULL, 10);
	return 0;
}

static int add_name(char ***list, size_t *count, const char *variable)
{
	char **grown = reallocarray(*list, *count + 2, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[*count] = strndup(variable, strcspn(variable, "="));
	grown[*count + 1] = NULL;
	return grown[(*count)++] ? 0 : -ENOMEM;
}

/* The BPF programs overwrite variables with CORDON_BLOT, which no variable's name has. */
static bool is_blotted(const char *text, size_t length)
{
	return strspn(text, (const char[]){CORDON_BLOT, '\0'}) == length;
}

int process_environment_clean(pid_t pid, const struct policy_environment *policy,
			      char ***ret_removed, struct failure *failure)
{
	_cleanup_(closep) int memory = proc_open(pid, "mem", O_RDWR);
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *zeros = NULL;
	unsigned long start = 0;
	size_t size, count = 0;
	int r;

	if (memory < 0)
		return failure_set(failure, memory, "the memory of process %d: %m", pid);
	r = find_environment(pid, &start, failure);
	if (r == 0)
		r = read_text(pid, "environ", &text, &size, failure);
	zeros = r == 0 ? calloc(1, size + 1) : NULL;
	if (r == 0 && !zeros)
		return failure_set(failure, ENOMEM, "%m");
	for (size_t at = 0; r == 0 && at < size;) {
		size_t length = strnlen(text + at, size - at);

		if (length > 0 && !environment_keeps(policy, text + at)) {
			if (pwrite(memory, zeros, length, (off_t)(start + at)) != (ssize_t)length)
				r = failure_set(failure, errno, "the environment of process %d: %m",
						pid);
			else if (!is_blotted(text + at, length))
				r = add_name(ret_removed, &count, text + at);
		}
		at += length + 1;
	}
	return r;
}

int process_environment_note(pid_t pid, char ***ret_kept, struct failure *failure)
{
	_cleanup_(freep) char *text = NULL;
	size_t size, count = 0;
	int r = read_text(pid, "environ", &text, &size, failure);

	for (size_t at = 0; r == 0 && at < size;) {
		size_t length = strnlen(text + at, size - at);

		if (length > 0)
			r = add_name(ret_kept, &count, text + at);
		at += length + 1;
	}
	return r;
}
