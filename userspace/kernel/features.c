/* SPDX-License-Identifier: Apache-2.0 */
/* Probes the features of this kernel, and those it lacks for enforcement. */
#include "kernel/features.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "base/io.h"
#include "bpf/pure/system_calls.h"
#include "kernel/enforcement.h"
#include "kernel/calls.h"
#include "kernel/distribution.h"
#include "kernel/hooks.h"
#include "kernel/loader.h"
#include "kernel/pins.h"
#include "kernel/symbols.h"
#include "kernel/trial.h"

DEFINE_CLEANUP(struct btf *, btf__free, btfp)

#define MAX_FEATURES	    32
#define BPF_FS_MAGIC_NUMBER 0xcafe4a11
#define CGROUP2_MAGIC	    0x63677270

struct probe {
	struct feature features[MAX_FEATURES];
	size_t count;
};

static struct feature *add(struct probe *p, const char *name, enum feature_state state,
			   const char *found, ...) _printf_(4, 5);

static struct feature *add(struct probe *p, const char *name, enum feature_state state,
			   const char *found, ...)
{
	struct feature *f = &p->features[p->count++];
	va_list args;

	f->name = name;
	f->state = state;
	va_start(args, found);
	vsnprintf(f->found, sizeof(f->found), found, args);
	va_end(args);
	return f;
}

static void explain(struct feature *f, const char *effect, const char *remedy)
{
	snprintf(f->effect, sizeof(f->effect), "%s", effect);
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
}

/* A gap: `coverage: full` does not accept it. */
static void explain_gap(struct feature *f, const char *effect, const char *remedy)
{
	explain(f, effect, remedy);
	f->gap = true;
}

/* First line of a small file, or "" with errno set. */
static void read_line(const char *path, char *line, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	size_t length;
	int r = io_read_file(AT_FDCWD, path, 65536, &text, &length);

	line[0] = '\0';
	if (r < 0) {
		errno = -r;
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	snprintf(line, size, "%s", text);
}

/* Is `word` in `list`, with words separated by any of `separators`? */
static bool has_word(const char *list, const char *separators, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, separators)) {
		at += strspn(at, separators);
		if (strcspn(at, separators) == length && strncmp(at, word, length) == 0)
			return true;
	}
	return false;
}

static void probe_root(struct probe *p)
{
	uid_t uid = geteuid();

	if (uid == 0)
		add(p, "privilege", FEATURE_OK, "root");
	else
		explain(add(p, "privilege", FEATURE_MISSING, "uid %u", (unsigned int)uid),
			"only root can load BPF LSM programs",
			"run as root, for example with sudo");
}

static void probe_version(struct probe *p)
{
	struct utsname name;
	unsigned int major = 0, minor = 0;

	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 1))
		add(p, "kernel", FEATURE_OK, "%.100s", name.release);
	else
		explain(add(p, "kernel", FEATURE_MISSING, "%.100s", name.release),
			"needs task iterators by pidfd and dynamic program features of 6.1",
			"use Linux 6.1 or later");
}

static void probe_btf(struct probe *p)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		add(p, "kernel type information", FEATURE_OK, "/sys/kernel/btf/vmlinux");
	else
		explain(add(p, "kernel type information", FEATURE_MISSING, "none"),
			"programs cannot be adapted to this kernel",
			"use a kernel with CONFIG_DEBUG_INFO_BTF=y; mount sysfs if it is not");
}

static void probe_symbols(struct probe *p)
{
	struct failure failure = {};

	if (symbols_check(SYMBOLS_FILE, &failure) == 0)
		add(p, "kernel addresses", FEATURE_OK, "told");
	else
		explain(add(p, "kernel addresses", FEATURE_MISSING, "%.200s", failure.text),
			"programs cannot detect that names change",
			"run as root; `sysctl kernel.kptr_restrict=1`");
}

/* `present`: the active list. */
static void explain_lsm(struct feature *f, const char *present)
{
	_cleanup_(closep) int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char argument[160], remedy[sizeof(f->remedy)];

	snprintf(argument, sizeof(argument), "lsm=%s,bpf", present);
	distribution_remedy(root, argument, remedy, sizeof(remedy));
	explain(f, "the kernel would not call cordon's programs", remedy);
}

static void probe_lsm(struct probe *p)
{
	char line[128];

	read_line("/sys/kernel/security/lsm", line, sizeof(line));
	if (has_word(line, ",", "bpf"))
		add(p, "BPF LSM", FEATURE_OK, "lsm=%s", line);
	else if (line[0] == '\0')
		explain(add(p, "BPF LSM", FEATURE_MISSING,
			    "cannot read /sys/kernel/security/lsm: %s", strerror(errno)),
			"it is not known whether programs would be called",
			"mount it with `mount -t securityfs securityfs /sys/kernel/security`");
	else
		explain_lsm(add(p, "BPF LSM", FEATURE_MISSING, "lsm=%s", line), line);
}

static void probe_lockdown(struct probe *p)
{
	char line[128];
	const char *chosen;

	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	chosen = strchr(line, '[');
	if (!chosen) {
		add(p, "lockdown", FEATURE_OK, "not built in");
	} else if (strncmp(chosen, "[none]", 6) == 0) {
		add(p, "lockdown", FEATURE_OK, "%s", line);
	} else if (strncmp(chosen, "[integrity]", 11) == 0) {
		explain(add(p, "lockdown", FEATURE_REDUCED, "%s", line),
			"the kernel rejects programs that write to user memory",
			"needed only if the kernel is to clean the environments of adopted "
			"executions");
	} else {
		explain(add(p, "lockdown", FEATURE_MISSING, "%s", line),
			"the kernel rejects programs that read kernel memory",
			"start without `lockdown=confidentiality`");
	}
}

/* Destination of core dumps, whichever process crashes. */
static void probe_dumps(struct probe *p)
{
	char line[256];

	read_line("/proc/sys/kernel/core_pattern", line, sizeof(line));
	if (line[0] == '|')
		add(p, "core dumps", FEATURE_OK, "piped to %s, except dumps of executions",
		    line + 1 + strspn(line + 1, " "));
	else if (line[0] == '@')
		add(p, "core dumps", FEATURE_OK,
		    "sent to the socket %s, except dumps of executions", line + 1);
	else
		add(p, "core dumps", FEATURE_OK, "files, \"%s\"; executions write none", line);
}

static void probe_bpffs(struct probe *p)
{
	struct statfs fs;

	if (statfs("/sys/fs/bpf", &fs) == 0 && fs.f_type == BPF_FS_MAGIC_NUMBER)
		add(p, "bpf file system", FEATURE_OK, "/sys/fs/bpf");
	else
		explain(add(p, "bpf file system", FEATURE_MISSING, "not mounted at /sys/fs/bpf"),
			"enforcement could not outlive the daemon",
			"mount it with `mount -t bpf bpf /sys/fs/bpf`");
}

static void probe_controller(struct probe *p, const char *name, const char *controllers,
			     const char *wanted, const char *effect)
{
	if (has_word(controllers, " ", wanted))
		add(p, name, FEATURE_OK, "available");
	else
		explain_gap(
			add(p, name, FEATURE_REDUCED, "not in cgroup.controllers"), effect,
			"enable the controller: it may be held by cgroup v1 or off on the kernel "
			"command line (systemd.unified_cgroup_hierarchy=1, cgroup_enable=memory)");
}

/* The engine's programs have this type (engine.h). */
static void probe_extensions(struct probe *p)
{
	int r = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_EXT, NULL);

	if (r > 0)
		add(p, "program extensions", FEATURE_OK, "available");
	/* Without privilege, the result is not known. */
	else if (r == 0)
		explain(add(p, "program extensions", FEATURE_MISSING, "not known to the kernel"),
			"every access of an execution would be denied",
			"use a kernel with CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF");
}

/* Mount point of the cgroup2 hierarchy: unified, or beside version 1. */
static const char *cgroup2_mount(void)
{
	static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (statfs(places[i], &fs) == 0 && fs.f_type == CGROUP2_MAGIC)
			return places[i];
	return NULL;
}

static void probe_cgroup(struct probe *p)
{
	const char *mount = cgroup2_mount();
	char path[64], controllers[256];

	if (!mount) {
		explain(add(p, "cgroup v2", FEATURE_MISSING, "not mounted"),
			"executions could not be ended with everything they started",
			"mount it with `mount -t cgroup2 cgroup2 /sys/fs/cgroup`");
		return;
	}
	add(p, "cgroup v2", FEATURE_OK, "%s", mount);
	snprintf(path, sizeof(path), "%s/cgroup.controllers", mount);
	read_line(path, controllers, sizeof(controllers));
	probe_controller(p, "memory controller", controllers, "memory",
			 "`limits: memory` is not applied");
	probe_controller(p, "pids controller", controllers, "pids",
			 "`limits: pids` is not applied");
	probe_controller(p, "cpu controller", controllers, "cpu", "`limits: cpu` is not applied");
	probe_controller(p, "io controller", controllers, "io", "`limits: io` is not applied");
	probe_controller(p, "hugetlb controller", controllers, "hugetlb",
			 "`limits: memory` does not keep executions from the host's huge pages");
}

static bool has_hook(const struct btf *btf, const char *hook)
{
	char name[64];

	snprintf(name, sizeof(name), "bpf_lsm_%s", hook);
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/* Calls that were not examined, because the kernel is newer than this build. */
static void probe_calls(struct probe *p, const struct btf *btf)
{
	char first[CALLS_NAME_SIZE];
	int count = calls_count_new(btf, CALLS_SYSTEM, first);

	if (count > 0)
		explain(add(p, "system calls new to this build", FEATURE_REDUCED, "%d, such as %s",
			    count, first),
			"their accesses are checked only where they pass hooks, and capabilities that "
			"reach the host are denied to them",
			"use a cordon that knows this kernel");
	count = calls_count_new(btf, CALLS_RING, first);
	if (count == 0)
		count = calls_count_new(btf, CALLS_RING_REGISTER, first);
	if (count > 0)
		explain(add(p, "io_uring operations new to this build", FEATURE_REDUCED,
			    "%d, such as %s", count, first),
			"their accesses are checked only where they pass hooks",
			"keep `io_uring` from policies, or use a cordon that knows this kernel");
}

/* Hooks that are required, and hooks of newer kernels. */
static void probe_hooks(struct probe *p)
{
	_cleanup_(btfp) struct btf *btf = btf__load_vmlinux_btf();
	char missing[LOADER_HOOK_SIZE];
	int count;

	if (!btf)
		return;
	count = loader_check_hooks(btf, missing);
	if (count < 0)
		explain(add(p, "LSM hooks", FEATURE_MISSING, "unknown: %s", strerror(-count)),
			"the programs of this build cannot be read", "install cordon anew");
	else if (missing[0])
		explain(add(p, "LSM hooks", FEATURE_MISSING, "no %s that is known", missing),
			"accesses through it would go unseen",
			"use a kernel with CONFIG_BPF_LSM, CONFIG_SECURITY_PATH and "
			"CONFIG_SECURITY_NETWORK");
	else
		add(p, "LSM hooks", FEATURE_OK, "all %d that are needed", count);
	count = hooks_count_new(btf, missing);
	if (count > 0)
		explain(add(p, "hooks new to this build", FEATURE_REDUCED, "%d, such as %s", count,
			    missing),
			"accesses through them are checked only where they pass other hooks",
			"use a cordon that knows this kernel");
	probe_calls(p, btf);
	if (btf__find_by_name_kind(btf, "fsnotify_alloc_group", BTF_KIND_FUNC) < 0 ||
	    btf__find_by_name_kind(btf, "fsnotify_destroy_group", BTF_KIND_FUNC) < 0)
		explain_gap(add(p, "notification groups", FEATURE_REDUCED, "no such function"),
			    "one execution can use up the inotify instances of its user",
			    "watches are still bounded");
	if (btf__find_by_name_kind(btf, "__secure_computing", BTF_KIND_FUNC) < 0 &&
	    btf__find_by_name_kind(btf, "__seccomp_permit_syscall", BTF_KIND_FUNC) < 0)
		explain_gap(add(p, "system call reports", FEATURE_REDUCED, "no such function"),
			    "calls that the system call filter denies are not logged",
			    "no call passes: the filter denies them all the same");
	if (btf__find_by_name_kind(btf, "capable_wrt_inode_uidgid", BTF_KIND_FUNC) < 0 ||
	    btf__find_by_name_kind(btf, "nameidata", BTF_KIND_STRUCT) < 0)
		explain(add(p, "attempts", FEATURE_REDUCED, "no such function"),
			"accesses that file modes deny are not logged",
			"no access passes: the kernel denies them all the same");
	if (!has_hook(btf, "file_ioctl_compat"))
		explain_gap(add(p, "file_ioctl_compat hook", FEATURE_REDUCED, "not here"),
			    "terminal input can be forged through the 32-bit entry",
			    "keep `system_calls: restricted`, which closes that entry");
	if (!has_hook(btf, "file_truncate"))
		add(p, "file_truncate hook", FEATURE_OK, "not here: path_truncate covers it");
	if (!has_hook(btf, "inode_set_acl"))
		add(p, "inode_set_acl hook", FEATURE_OK, "not here: inode_setxattr covers it");
}

static int count_links(void)
{
	_cleanup_(closedirp) DIR *dir = opendir(PIN_LINKS);
	struct dirent *entry;
	int count = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.' && !loader_is_extra(entry->d_name);
	return count;
}

static void probe_pins(struct probe *p)
{
	int links = count_links(), expected;

	if (links == -EACCES || links == -EPERM) {
		add(p, "pinned enforcement", FEATURE_OK, "not readable by this user");
		return;
	}
	if (links < 0 && access(ENFORCEMENT_PIN_DIRECTORY, F_OK) < 0) {
		add(p, "pinned enforcement", FEATURE_OK, "none loaded");
		return;
	}
	expected = loader_expected_links();
	if (links == expected && access(PIN_META, F_OK) == 0 && !loader_engine_is_complete())
		explain(add(p, "pinned enforcement", FEATURE_REDUCED,
			    "the engine is not attached to all of %d programs", links),
			"executions are denied accesses that it would allow",
			"the next start replaces it; `cordon disable` removes it now");
	else if (links == expected && access(PIN_META, F_OK) == 0)
		add(p, "pinned enforcement", FEATURE_OK, "complete: %d programs attached", links);
	else
		explain(add(p, "pinned enforcement", FEATURE_REDUCED, "%d of %d programs at %s",
			    links < 0 ? 0 : links, expected, ENFORCEMENT_PIN_DIRECTORY),
			"left by an interrupted start, or by another build",
			"the next start replaces it; `cordon disable` removes it now");
}

/* `addresses`: for loading programs. Loaded programs have their addresses already. */
static int look(bool addresses, struct feature **ret_features, size_t *ret_count)
{
	struct probe *p = calloc(1, sizeof(*p));
	struct feature *features;

	if (!p)
		return -ENOMEM;
	probe_root(p);
	probe_version(p);
	probe_btf(p);
	if (addresses)
		probe_symbols(p);
	probe_lsm(p);
	probe_lockdown(p);
	probe_bpffs(p);
	probe_dumps(p);
	if (addresses)
		probe_extensions(p);
	probe_cgroup(p);
	probe_hooks(p);
	probe_pins(p);
	features = calloc(p->count, sizeof(*features));
	if (features) {
		memcpy(features, p->features, p->count * sizeof(*features));
		*ret_features = features;
		*ret_count = p->count;
	}
	free(p);
	return features ? 0 : -ENOMEM;
}

int features_probe(struct feature **ret_features, size_t *ret_count)
{
	return look(true, ret_features, ret_count);
}

static void probe_programs(struct probe *p)
{
	struct failure failure = {};
	struct trial trial;

	if (enforcement_is_complete())
		add(p, "programs", FEATURE_OK, "in force");
	else if (trial_load(&trial, &failure) == 0)
		add(p, "programs", FEATURE_OK, "the kernel accepts all %u, in %u.%u s",
		    trial.programs, trial.msec / 1000, trial.msec % 1000 / 100);
	else
		explain(add(p, "programs", FEATURE_MISSING, "%s", failure.text),
			"cordon cannot enforce on this kernel",
			"use a kernel that docs/operations.md names, or a newer cordon; report "
			"this line");
}

int features_try(struct feature **features, size_t *count)
{
	struct feature *more;
	struct probe *p;

	if (!features_can_enforce(*features, *count))
		return 0;
	more = reallocarray(*features, *count + 1, sizeof(**features));
	if (!more)
		return -ENOMEM;
	*features = more;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	probe_programs(p);
	more[(*count)++] = p->features[0];
	free(p);
	return 0;
}

int features_gaps(char ***ret_gaps)
{
	_cleanup_(freep) struct feature *features = NULL;
	size_t count = 0, found = 0;
	char **gaps;
	int r;

	r = look(false, &features, &count);
	if (r < 0)
		return r;
	gaps = calloc(count + 1, sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!features[i].gap)
			continue;
		if (asprintf(&gaps[found], "%s: %s", features[i].name, features[i].effect) < 0) {
			gaps[found] = NULL;
			while (found > 0)
				free(gaps[--found]);
			free(gaps);
			return -ENOMEM;
		}
		found++;
	}
	*ret_gaps = gaps;
	return 0;
}

bool features_can_enforce(const struct feature *features, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (features[i].state == FEATURE_MISSING)
			return false;
	return true;
}
