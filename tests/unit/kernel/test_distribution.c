// SPDX-License-Identifier: Apache-2.0
/*
 * What is to be done is said in the words of each distribution, as its own files tell which it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "kernel/distribution.h"

static const struct sample {
	const char *release; /* its os-release */
	const char *files;   /* that it has besides */
	const char *words;   /* of the remedy */
} samples[] = {
	{"PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n",
	 "etc/default/grub", "/etc/default/grub.d/99-cordon.cfg, run `update-grub`"},
	{"PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nNAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n",
	 "etc/default/grub", "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX lsm=yama,bpf\""},
	/* A cloud image sets its own line in a file that is read later than /etc/default/grub. */
	{"NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n",
	 "etc/default/grub etc/default/grub.d/50-cloudimg-settings.cfg",
	 "/etc/default/grub.d/99-cordon.cfg"},
	{"NAME=\"Fedora Linux\"\nVERSION=\"42 (Server Edition)\"\nID=fedora\nVERSION_ID=42\nVARIANT_ID=server\n",
	 "etc/default/grub boot/loader/entries/x.conf etc/kernel/cmdline",
	 "grubby --update-kernel=ALL --args=lsm=yama,bpf"},
	{"NAME=\"Fedora Linux\"\nID=fedora\nVARIANT_ID=coreos\n", "run/ostree-booted",
	 "rpm-ostree kargs"},
	{"NAME=\"Red Hat Enterprise Linux\"\nID=\"rhel\"\nID_LIKE=\"fedora\"\n", "etc/default/grub",
	 "grubby"},
	{"NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "", "grubby"},
	{"NAME=\"Amazon Linux\"\nID=\"amzn\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"2023\"\n",
	 "etc/default/grub", "grubby"},
	{"NAME=\"openSUSE Tumbleweed\"\nID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n",
	 "etc/default/grub", "update-bootloader"},
	{"NAME=\"Arch Linux\"\nID=arch\nBUILD_ID=rolling\n", "boot/loader/entries/arch.conf",
	 "/boot/loader/entries"},
	{"NAME=\"Arch Linux\"\nID=arch\n", "etc/kernel/cmdline boot/loader/entries/x",
	 "/etc/kernel/cmdline"},
	{"NAME=\"Arch Linux\"\nID=arch\n", "etc/default/grub", "grub-mkconfig"},
	{"NAME=\"Alpine Linux\"\nID=alpine\n", "etc/update-extlinux.conf", "`update-extlinux`"},
	{"NAME=\"Debian GNU/Linux\"\nID=debian\n", "boot/firmware/cmdline.txt",
	 "/boot/firmware/cmdline.txt"},
	{"NAME=Bottlerocket\nID=bottlerocket\nVARIANT_ID=aws-k8s-1.31\n", "",
	 "settings.boot.kernel-parameters"},
	{"NAME=\"Flatcar Container Linux by Kinvolk\"\nID=flatcar\nID_LIKE=coreos\n", "",
	 "linux_append"},
	{"NAME=\"Talos\"\nID=talos\n", "", "extraKernelArgs"},
	{"NAME=\"Container-Optimized OS\"\nID=cos\n", "", "/efi/boot/grub.cfg"},
	{"NAME=NixOS\nID=nixos\n", "boot/loader/entries/x", "boot.kernelParams"},
	/* A comment, a word that only begins like it, and nothing that is known. */
	{"#ID=debian\nID_LIKE_NOT=fedora\nID=debianish\nID_LIKE='rhel-less'\n", "",
	 "append `lsm=yama,bpf` to the kernel command line"},
	{"", "", "append `lsm=yama,bpf` to the kernel command line"},
};

static void make(int root, const char *path, const char *text)
{
	char part[256];
	FILE *file;
	int fd;

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		mkdirat(root, part, 0700);
	}
	fd = openat(root, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		char top[] = "/tmp/cordon-unit-distribution-XXXXXX", files[256], command[128],
		     remedy[480];
		char *rest = files, *file;
		int root;

		assert_non_null(mkdtemp(top));
		root = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
		make(root, "etc/os-release", samples[i].release);
		snprintf(files, sizeof(files), "%s", samples[i].files);
		while ((file = strsep(&rest, " ")))
			if (*file)
				make(root, file, "");
		distribution_remedy(root, "lsm=yama,bpf", remedy, sizeof(remedy));
		if (!strstr(remedy, samples[i].words))
			fail_msg("%s: \"%s\" lacks \"%s\"", samples[i].release, remedy,
				 samples[i].words);
		assert_non_null(strstr(remedy, "lsm=yama,bpf"));
		assert_true(strlen(remedy) < sizeof(remedy) - 1);
		close(root);
		snprintf(command, sizeof(command), "rm -rf %s", top);
		assert_int_equal(system(command), 0);
	}
}

/* usr/lib/os-release serves where etc has none. */
static void test_no_release(void **state)
{
	char top[] = "/tmp/cordon-unit-distribution-XXXXXX", command[128], remedy[480];
	int root;

	(void)state;
	assert_non_null(mkdtemp(top));
	root = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	make(root, "usr/lib/os-release", "ID=bottlerocket\n");
	distribution_remedy(root, "lsm=bpf", remedy, sizeof(remedy));
	assert_non_null(strstr(remedy, "reboot-to-reconcile"));
	close(root);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_no_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
