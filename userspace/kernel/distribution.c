/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out how this distribution sets the kernel command line. */
#include "kernel/distribution.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

#define RELEASE_MAX 65536
#define VALUE_SIZE  128

/* The value of KEY in `text`, lines KEY=VALUE with or without quotes (os-release(5)); or "". */
static void value_of(const char *text, const char *key, char ret_value[VALUE_SIZE])
{
	size_t length = strlen(key), n;

	ret_value[0] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (strncmp(line, key, length) != 0 || line[length] != '=')
			continue;
		line += length + 1;
		line += *line == '"' || *line == '\'';
		n = strcspn(line, "\"'\n");
		snprintf(ret_value, VALUE_SIZE, "%.*s", (int)n, line);
	}
}

struct host {
	int root;
	char id[VALUE_SIZE], like[VALUE_SIZE];
};

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word), n;

	for (const char *at = list; *at; at += n) {
		at += strspn(at, " ");
		n = strcspn(at, " ");
		if (n == length && strncmp(at, word, n) == 0)
			return true;
	}
	return false;
}

/* Is it this distribution, or one derived from it? */
static bool is(const struct host *host, const char *id)
{
	return strcmp(host->id, id) == 0 || has_word(host->like, id);
}

static bool has(const struct host *host, const char *path)
{
	return path[0] == '\0' || faccessat(host->root, path, F_OK, 0) == 0;
}

/*
 * The first match applies. Image-based hosts come before the distributions that they are made of,
 * and a loader identified by a file comes before the distribution's default. %s is the argument.
 */
static const struct {
	const char *id;	  /* or NULL: any */
	const char *file; /* a file that must exist, or "" */
	const char *text;
} remedies[] = {
	{"bottlerocket", "",
	 "set `settings.boot.kernel-parameters.lsm` to the list of `%s` through its API or user data, with "
	 "`settings.boot.reboot-to-reconcile = true`"},
	{"talos", "", "put `%s` into `machine.install.extraKernelArgs` and upgrade the node"},
	{"flatcar", "",
	 "append `%s` to `linux_append` in /usr/share/oem/grub.cfg (/oem/grub.cfg) and restart"},
	{"cos", "",
	 "add `%s` to the `linux` lines of /efi/boot/grub.cfg on the EFI partition and restart"},
	{"nixos", "", "put `%s` into `boot.kernelParams`, run `nixos-rebuild boot` and restart"},
	{NULL, "run/ostree-booted", "run `rpm-ostree kargs --append-if-missing=%s` and restart"},
	{NULL, "proc/sys/fs/binfmt_misc/WSLInterop",
	 "put `kernelCommandLine = %s` into .wslconfig and run `wsl --shutdown`"},
	{NULL, "boot/firmware/cmdline.txt",
	 "append `%s` to the line in /boot/firmware/cmdline.txt and restart"},
	{"debian", "etc/default/grub",
	 "put `GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"` into /etc/default/grub.d/99-cordon.cfg, run "
	 "`update-grub` and restart"},
	{"fedora", "", "run `grubby --update-kernel=ALL --args=%s` and restart"},
	{"rhel", "", "run `grubby --update-kernel=ALL --args=%s` and restart"},
	{"suse", "etc/default/grub",
	 "append `%s` to GRUB_CMDLINE_LINUX in /etc/default/grub, run `update-bootloader` and restart"},
	{"alpine", "etc/update-extlinux.conf",
	 "append `%s` to default_kernel_opts in /etc/update-extlinux.conf, run `update-extlinux` and restart"},
	{NULL, "etc/kernel/cmdline",
	 "append `%s` to the line in /etc/kernel/cmdline, have the boot entries made anew (`kernel-install "
	 "add-all`, `mkinitcpio -P`) and restart"},
	{NULL, "boot/loader/entries",
	 "append `%s` to the `options` of the entries in /boot/loader/entries and restart"},
	{NULL, "etc/default/grub",
	 "append `%s` to GRUB_CMDLINE_LINUX in /etc/default/grub, run `grub-mkconfig -o /boot/grub/grub.cfg` "
	 "and restart"},
};

static void fill(const char *form, const char *argument, char *ret_text, size_t size)
{
	const char *at = strstr(form, "%s");

	snprintf(ret_text, size, "%.*s%s%s", (int)(at - form), form, argument, at + 2);
}

void distribution_remedy(int root, const char *argument, char *ret_text, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	struct host host = {.root = root};
	size_t length;

	if (io_read_file(root, "etc/os-release", RELEASE_MAX, &text, &length) == 0 ||
	    io_read_file(root, "usr/lib/os-release", RELEASE_MAX, &text, &length) == 0) {
		value_of(text, "ID", host.id);
		value_of(text, "ID_LIKE", host.like);
	}
	for (size_t i = 0; i < ARRAY_SIZE(remedies); i++) {
		if ((remedies[i].id && !is(&host, remedies[i].id)) || !has(&host, remedies[i].file))
			continue;
		fill(remedies[i].text, argument, ret_text, size);
		return;
	}
	fill("append `%s` to the kernel command line, where the boot loader has it, and restart",
	     argument, ret_text, size);
}
