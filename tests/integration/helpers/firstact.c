// SPDX-License-Identifier: Apache-2.0
/*
 * A program whose first act, before its C library is set up, is the attack: firstact OUTSIDE INSIDE
 * [...] Makes the file OUTSIDE, then INSIDE, which shows that it ran. Status 3: there are secrets
 * in its environment.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long refused;

/* Of the C library, nothing but a bare system call works here. */
#ifdef __aarch64__
static long make(const char *path)
{
	register long call __asm__("x8") = SYS_openat, first __asm__("x0") = AT_FDCWD;
	register long flags __asm__("x2") = O_WRONLY | O_CREAT, mode __asm__("x3") = 0644;
	register const char *name __asm__("x1") = path;

	__asm__ volatile("svc #0"
			 : "+r"(first)
			 : "r"(call), "r"(name), "r"(flags), "r"(mode)
			 : "memory");
	return first;
}
#else
static long make(const char *path)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_open), "D"(path), "S"(O_WRONLY | O_CREAT), "d"(0644)
			 : "rcx", "r11", "memory");
	return result;
}
#endif

static void first(int argc, char **argv, char **environment)
{
	(void)environment;
	if (argc > 2) {
		refused = make(argv[1]);
		make(argv[2]);
	}
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
									      char **) = first;

int main(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	for (; *environment; environment++)
		if (strncmp(*environment, "SECRET", 6) == 0)
			return 3;
	return refused < 0 ? 0 : 2;
}
