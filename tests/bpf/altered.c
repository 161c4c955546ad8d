// SPDX-License-Identifier: Apache-2.0
/*
 * On a kernel with types that the programs were not built for, `cordon doctor` and `cordon run`
 * fail with the same reason. In its own mount namespace, this program mounts an altered file over
 * the kernel's file of types. First, it mounts an unaltered copy, with which doctor must succeed.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define TYPES	  "/sys/kernel/btf/vmlinux"
#define WORD_BITS 64

enum change {
	GONE,	   /* the field has another name */
	MOVED,	   /* the field is one word further on */
	NARROWED,  /* the field is a 32-bit number */
	NO_TYPE,   /* the struct has another name */
	ARGUMENTS, /* the hook's third argument has the type of its first */
};

static const struct mutation {
	const char *name, *type, *field, *reason;
	enum change change;
} mutations[] = {
	{"a removed field", "mount", "mnt_parent", "no struct mount.mnt_parent", GONE},
	{"a removed struct", "proc_inode", NULL, "no struct proc_inode.", NO_TYPE},
	{"a moved field that must be first", "timespec64", "tv_sec",
	 "struct timespec64.tv_sec as something else", MOVED},
	{"a narrower number", "inode", "i_ino", "struct inode.i_ino as something else", NARROWED},
	{"mounts in an unknown layout", "super_block", "s_mounts", "lays out \"mounts\" in no way",
	 GONE},
	{"a hook with other arguments", "bpf_lsm_capable", NULL,
	 "the hook capable with other arguments", ARGUMENTS},
};

static int passed, failed;
static char cordon[PATH_MAX];

static void check(bool good, const char *what, const char *name)
{
	printf("%s - %s: %s\n", good ? "ok" : "not ok", name, what);
	passed += good;
	failed += !good;
}

static _Noreturn void broken(const char *what)
{
	printf("altered: cannot %s: %m\n", what);
	exit(1);
}

static struct btf_type *find(struct btf *types, const char *name, __u32 kind)
{
	int id = btf__find_by_name_kind(types, name, kind);

	if (id <= 0)
		broken(name);
	return (struct btf_type *)(uintptr_t)btf__type_by_id(types, (__u32)id);
}

static struct btf_member *find_field(struct btf *types, const char *type, const char *name)
{
	struct btf_type *t = find(types, type, BTF_KIND_STRUCT);

	for (unsigned int i = 0; i < btf_vlen(t); i++)
		if (strcmp(btf__name_by_offset(types, btf_members(t)[i].name_off), name) == 0)
			return btf_members(t) + i;
	errno = ENOENT;
	broken(name);
}

static void alter(struct btf *types, const struct mutation *m)
{
	/* First, because it moves the types. */
	int nonsense = btf__add_str(types, "cordon_nonsense");
	struct btf_param *arguments;
	const struct btf_type *hook;

	switch (m->change) {
	case GONE:
		find_field(types, m->type, m->field)->name_off = (__u32)nonsense;
		break;
	case MOVED:
		find_field(types, m->type, m->field)->offset += WORD_BITS;
		break;
	case NARROWED:
		find_field(types, m->type, m->field)->type =
			(__u32)btf__find_by_name_kind(types, "unsigned int", BTF_KIND_INT);
		break;
	case NO_TYPE:
		find(types, m->type, BTF_KIND_STRUCT)->name_off = (__u32)nonsense;
		break;
	case ARGUMENTS:
		hook = find(types, m->type, BTF_KIND_FUNC);
		arguments = btf_params(btf__type_by_id(types, hook->type));
		arguments[2].type = arguments[0].type;
		break;
	}
}

/* Makes these the kernel's types for programs that this one starts from here on. */
static void cover(struct btf *types)
{
	char path[] = "/tmp/cordon-types-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	const void *data;
	__u32 size;

	data = btf__raw_data(types, &size);
	if (fd < 0 || !data || write(fd, data, size) != (ssize_t)size)
		broken("write types");
	close(fd);
	if (mount(path, TYPES, NULL, MS_BIND, NULL) < 0)
		broken("cover " TYPES);
	unlink(path);
}

/* Runs cordon, stores its output in `text`, and returns its exit status. */
static int say(const char *arguments, char *text, size_t size)
{
	char command[PATH_MAX + 128];
	size_t n;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "%s %s 2>&1 </dev/null", cordon, arguments);
	pipe = popen(command, "re");
	if (!pipe)
		broken(command);
	n = fread(text, 1, size - 1, pipe);
	text[n] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void try(const struct mutation *m)
{
	struct btf *types = btf__parse(TYPES, NULL);
	static char doctor[65536], run[65536];
	char *reason;
	int status;

	if (!types)
		broken("read " TYPES);
	alter(types, m);
	cover(types);
	btf__free(types);

	status = say("doctor", doctor, sizeof(doctor));
	check(status == 1 && strstr(doctor, m->reason), "doctor fails with the reason", m->name);
	status = say("run --policy policies/observe.yaml -- /bin/true", run, sizeof(run));
	check(status == 125 && strstr(run, m->reason), "run fails with the reason", m->name);
	/* "cordon: REASON; see ..." */
	reason = strstr(run, ": ");
	if (reason)
		reason[strcspn(reason, ";\n")] = '\0';
	check(reason && strstr(doctor, reason + 2), "both report the same reason", m->name);
	if (failed)
		printf("doctor: %s\nrun: %s\n", doctor, run);
	if (umount2(TYPES, MNT_DETACH) < 0)
		broken("uncover " TYPES);
}

int main(int argc, char **argv)
{
	static char doctor[65536];
	struct btf *types;

	(void)argc;
	snprintf(cordon, sizeof(cordon), "%s/../../cordon", dirname(argv[0]));
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		broken("make a mount namespace");
	types = btf__parse(TYPES, NULL);
	if (!types)
		broken("read " TYPES);
	cover(types);
	btf__free(types);
	check(say("doctor --quick", doctor, sizeof(doctor)) == 0, "doctor succeeds", "a copy");
	if (umount2(TYPES, MNT_DETACH) < 0)
		broken("uncover " TYPES);
	for (size_t i = 0; i < ARRAY_SIZE(mutations); i++)
		try(&mutations[i]);
	printf("# altered: %d passed, %d failed\n", passed, failed);
	return failed != 0;
}
