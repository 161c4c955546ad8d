/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what ASan and UBSan find in the daemon and in its helpers to one file, which whoever runs
 * the tests makes and looks at. It is opened before main(): a helper can open nothing once it is
 * confined, and a helper that dies is started again, which would hide why.
 */
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <unistd.h>

#define REPORT "/run/cordon-sanitizers"
/* Beyond the numbers that programs get descriptors by. */
#define REPORT_FD 500

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* Leaks are looked for by ptrace(2), names by starting a program: the daemon denies itself both. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0:symbolize=0:detect_stack_use_after_return=1:strict_string_checks=1";
}

const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1:symbolize=0";
}

__attribute__((constructor)) static void report_to_file(void)
{
	int fd = open(REPORT, O_WRONLY | O_APPEND | O_CLOEXEC);
	int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, REPORT_FD);

	if (fd >= 0)
		(void)close(fd);
	if (moved >= 0)
		__sanitizer_set_report_fd((void *)(intptr_t)moved);
}
