/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filter, run by an interpreter of the instructions that such programs consist of: what
 * it says of a call under each setting of a policy. One test has the kernel run it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/newer_calls.h"
#include "bpf/pure/system_calls.h"
#include "kernel/calls.h"
#include "launch/seccomp.h"

#define ALLOWED 0

/* net/core/filter.c, as far as filters use it. */
static uint32_t interpret(const struct sock_fprog *program, const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {};

	for (unsigned int at = 0; at < program->len; at++) {
		const struct sock_filter *i = &program->filter[at];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(i->k + sizeof(a) <= sizeof(*data));
			memcpy(&a, (const char *)data + i->k, sizeof(a));
			break;
		case BPF_LD | BPF_MEM:
			a = memory[i->k];
			break;
		case BPF_ST:
			memory[i->k] = a;
			break;
		case BPF_LD | BPF_IMM:
			a = i->k;
			break;
		case BPF_MISC | BPF_TAX:
			x = a;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_ALU | BPF_SUB | BPF_K:
			a -= i->k;
			break;
		case BPF_ALU | BPF_LSH | BPF_X:
			assert_true(x < 32);
			a <<= x;
			break;
		case BPF_JMP | BPF_JA:
			at += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			at += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			at += a > i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			at += a & i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			fail_msg("instruction %#x at %u", i->code, at);
		}
	}
	fail_msg("the program has no end");
	return 0;
}

static void build(const struct policy_system_calls *calls, struct sock_fprog *ret_program)
{
	_cleanup_(closep) int fd = -1;
	struct failure failure = {};

	assert_int_equal(seccomp_filter_build(calls, &fd, &failure), 0);
	assert_int_equal(seccomp_filter_map(fd, ret_program), 0);
}

/* The errno with which the call is refused, or ALLOWED. */
static int verdict(const struct sock_fprog *program, uint32_t arch, int call, uint64_t first,
		   uint64_t second)
{
	const struct seccomp_data data = {.nr = call, .arch = arch, .args = {first, second}};
	uint32_t action = interpret(program, &data);

	if (action == SECCOMP_RET_ALLOW)
		return ALLOWED;
	assert_int_equal(action & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
	return (int)(action & SECCOMP_RET_DATA);
}

struct expectation {
	int call;
	uint64_t first, second;
	int error;
};

static void check(const struct policy_system_calls *calls, const struct expectation *expected,
		  size_t count)
{
	struct sock_fprog program;

	build(calls, &program);
	for (size_t i = 0; i < count; i++) {
		int error = verdict(&program, AUDIT_ARCH_X86_64, expected[i].call,
				    expected[i].first, expected[i].second);

		if (error != expected[i].error)
			fail_msg("call %d(%#llx, %#llx): %s, not %s", expected[i].call,
				 (unsigned long long)expected[i].first,
				 (unsigned long long)expected[i].second,
				 error ? strerrorname_np(error) : "allowed",
				 expected[i].error ? strerrorname_np(expected[i].error)
						   : "allowed");
	}
	seccomp_filter_unmap(&program);
}

#define CHECK(calls, ...)                                                                          \
	do {                                                                                       \
		const struct expectation list_[] = {__VA_ARGS__};                                  \
		check(calls, list_, ARRAY_SIZE(list_));                                            \
	} while (0)

#define SOCKETS (~(1ull << AF_AX25))

static void test_restricted(void **state)
{
	const struct policy_system_calls calls = {.guarded = true, .families = SOCKETS};

	(void)state;
	CHECK(&calls, {SYS_userfaultfd, 1, 0, EPERM}, {SYS_mount_setattr, 0, 0, EPERM},
	      {SYS_open_tree, 0, 0, EPERM}, {SYS_setns, 0, 0, EPERM},
	      {SYS_name_to_handle_at, 0, 0, EPERM}, {SYS_quotactl, 0, 0, EPERM},
	      {SYS_modify_ldt, 0, 0, EPERM}, {SYS_io_uring_setup, 1, 0, ENOSYS},
	      {SYS_io_uring_enter, 1, 0, ENOSYS});
	/* Hooks refuse these, and record it. */
	CHECK(&calls, {SYS_mount, 0, 0, ALLOWED}, {SYS_bpf, 0, 0, ALLOWED},
	      {SYS_ptrace, 0, 0, ALLOWED}, {SYS_unshare, CLONE_NEWUSER, 0, ALLOWED},
	      {SYS_ioctl, 0, TIOCSTI, ALLOWED}, {SYS_keyctl, 0, 0, ALLOWED});
	CHECK(&calls, {SYS_read, 0, 0, ALLOWED}, {SYS_clone3, 0, 0, ALLOWED},
	      {SYS_execve, 0, 0, ALLOWED}, {SYS_futex, 0, 0, ALLOWED},
	      {SYS_ioctl, 0, TCGETS, ALLOWED}, {SYS_prctl, 0, 0, ALLOWED},
	      {SYS_seccomp, 0, 0, ALLOWED}, {SYS_memfd_create, 0, 0, ALLOWED});
	CHECK(&calls, {SYS_socket, AF_AX25, 0, EAFNOSUPPORT},
	      {SYS_socketpair, AF_AX25, 0, EAFNOSUPPORT},
	      {SYS_socket, 1ull << 32 | AF_AX25, 0, EAFNOSUPPORT},
	      {SYS_socket, AF_INET, 0, ALLOWED}, {SYS_socket, AF_UNIX, 0, ALLOWED});
}

/* From AF_MAX on, the kernel itself refuses. */
static void check_families(uint64_t allowed)
{
	const struct policy_system_calls calls = {.guarded = true, .families = allowed};
	static const uint64_t above[] = {AF_MAX, 63, 64, 96, 0x80000000, 0xffffffff};
	struct sock_fprog program;

	build(&calls, &program);
	for (uint64_t family = 0; family < AF_MAX; family++) {
		int error = allowed >> family & 1 ? ALLOWED : EAFNOSUPPORT;

		assert_int_equal(verdict(&program, AUDIT_ARCH_X86_64, SYS_socket, family, 0),
				 error);
		assert_int_equal(verdict(&program, AUDIT_ARCH_X86_64, SYS_socketpair,
					 0x500000000 | family, 0),
				 error);
		assert_int_equal(verdict(&program, AUDIT_ARCH_X86_64, SYS_bind, family, 0),
				 ALLOWED);
	}
	for (size_t i = 0; i < ARRAY_SIZE(above); i++)
		assert_int_equal(verdict(&program, AUDIT_ARCH_X86_64, SYS_socket, above[i], 0),
				 ALLOWED);
	seccomp_filter_unmap(&program);
}

static void test_families(void **state)
{
	(void)state;
	check_families(0);
	check_families(~0ull);
	check_families(0x5555555555555555);
	for (unsigned int family = 0; family < AF_MAX; family++) {
		check_families(1ull << family);
		check_families(~(1ull << family));
	}
}

static void test_strict(void **state)
{
	const struct policy_system_calls calls = {.families = ~0ull};

	(void)state;
	CHECK(&calls, {SYS_userfaultfd, 1, 0, EPERM}, {SYS_mount, 0, 0, EPERM},
	      {SYS_bpf, 0, 0, EPERM}, {SYS_perf_event_open, 0, 0, EPERM},
	      {SYS_finit_module, 0, 0, EPERM}, {SYS_kexec_load, 0, 0, EPERM},
	      {SYS_keyctl, 0, 0, EPERM}, {SYS_add_key, 0, 0, EPERM}, {SYS_ptrace, 0, 0, EPERM},
	      {SYS_process_vm_writev, 0, 0, EPERM}, {SYS_reboot, 0, 0, EPERM},
	      {SYS_clock_settime, 0, 0, EPERM}, {SYS_iopl, 0, 0, EPERM});
	CHECK(&calls, {SYS_ioctl, 0, TIOCSTI, EPERM}, {SYS_ioctl, 0, 1ull << 32 | TIOCSTI, EPERM},
	      {SYS_ioctl, TIOCSTI, TCGETS, ALLOWED});
	CHECK(&calls, {SYS_unshare, CLONE_NEWUSER, 0, EPERM},
	      {SYS_unshare, CLONE_FS | CLONE_NEWNET, 0, EPERM}, {SYS_unshare, 0x80, 0, EPERM},
	      {SYS_unshare, 0x00100000, 0, EPERM}, {SYS_clone, 0x00100000 | SIGCHLD, 0, ALLOWED},
	      {SYS_unshare, CLONE_FS | CLONE_FILES, 0, ALLOWED}, {SYS_clone, SIGCHLD, 0, ALLOWED},
	      {SYS_clone, CLONE_NEWPID | SIGCHLD, 0, EPERM},
	      {SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0, ALLOWED});
}

static void test_personality(void **state)
{
	struct policy_system_calls calls = {.guarded = true};

	(void)state;
	CHECK(&calls, {SYS_personality, 0xffffffff, 0, ALLOWED},
	      {SYS_personality, 0xffffffffffffffff, 0, ALLOWED}, {SYS_personality, 0, 0, ALLOWED},
	      {SYS_personality, ADDR_NO_RANDOMIZE, 0, ALLOWED},
	      {SYS_personality, READ_IMPLIES_EXEC, 0, EPERM},
	      {SYS_personality, 1ull << 32 | READ_IMPLIES_EXEC, 0, EPERM},
	      {SYS_personality, 0xfffffffe, 0, EPERM}, {SYS_personality, 0x7fffffff, 0, EPERM},
	      {SYS_personality, READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE, 0, EPERM});
	for (unsigned int bit = 0; bit < 32; bit++)
		CHECK(&calls,
		      {SYS_personality, ~(1u << bit), 0,
		       1u << bit == READ_IMPLIES_EXEC ? ALLOWED : EPERM},
		      {SYS_personality, 1u << bit, 0,
		       1u << bit == READ_IMPLIES_EXEC ? EPERM : ALLOWED});
	calls.executable_memory = true;
	CHECK(&calls, {SYS_personality, READ_IMPLIES_EXEC, 0, ALLOWED});
}

/* As kernel/calls.c has it, for everything or for nothing that such a policy can allow. */
static bool is_refused(enum calls_filter filter, const struct policy_system_calls *calls)
{
	switch (filter) {
	case CALLS_REFUSED:
		return true;
	case CALLS_UNLESS_NAMESPACES:
		return !calls->mounts;
	case CALLS_UNLESS_IO_URING:
		return !calls->io_uring;
	case CALLS_STRICT:
		return !calls->guarded;
	case CALLS_STRICT_NAMESPACES:
		return !calls->guarded && !calls->mounts;
	case CALLS_STRICT_TRACING:
		return !calls->guarded && !calls->tracing;
	default:
		return false;
	}
}

static void check_number(const struct sock_fprog *program, const struct policy_system_calls *calls,
			 int number, const char *name)
{
	const struct calls_row *row = calls_find(CALLS_SYSTEM, name);
	bool refused = verdict(program, AUDIT_ARCH_X86_64, number, 0, 0) != ALLOWED;

	if (!row) {
		fail_msg("kernel/calls.c does not know %s", name);
		return;
	}
	/* Arguments of zero are none of those that a call is refused for. */
	if (refused != is_refused(row->filter, calls))
		fail_msg("the filter %s %s; kernel/calls.c says otherwise",
			 refused ? "refuses" : "lets pass", name);
}

static void test_table(void **state)
{
	(void)state;
	for (unsigned int bits = 0; bits < 16; bits++) {
		const struct policy_system_calls calls = {
			.guarded = bits & 1,
			.mounts = bits & 2,
			.io_uring = bits & 4,
			.tracing = bits & 8,
			.families = ~0ull,
		};
		struct sock_fprog program;
		size_t checked = 0;

		build(&calls, &program);
		for (int number = 0; number < 1024; number++) {
			_cleanup_(freep) char *known =
				seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number);
			const char *name = known ? known : newer_call_name(number);

			if (!name) {
				assert_int_equal(verdict(&program, AUDIT_ARCH_X86_64, number, 0, 0),
						 ALLOWED);
				continue;
			}
			check_number(&program, &calls, number, name);
			checked++;
		}
		assert_true(checked > 360);
		seccomp_filter_unmap(&program);
	}
}

/*
 * What they are refused for, the tests about their arguments say; that there is something, both
 * sides have to.
 */
static void test_partly(void **state)
{
#define NAME(call) #call,
	static const char *const names[] = {CORDON_SYSTEM_CALLS_PARTLY(NAME)};
#undef NAME
	const struct calls_row *rows;
	size_t count, partly = 0;

	(void)state;
	rows = calls_rows(&count);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].filter != CALLS_PARTLY)
			continue;
		for (const char *at = rows[i].names; at; at = strchr(at + 1, ' '))
			partly += strncmp(at + (*at == ' '), "ia32_", 5) != 0;
	}
	assert_int_equal(partly, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(calls_find(CALLS_SYSTEM, names[i])->filter, CALLS_PARTLY);
}

static void test_settings(void **state)
{
	const struct policy_system_calls calls = {
		.mounts = true,
		.tracing = true,
		.io_uring = true,
		.executable_memory = true,
		.families = ~0ull,
	};

	(void)state;
	CHECK(&calls, {SYS_open_tree, 0, 0, ALLOWED}, {SYS_setns, 0, 0, ALLOWED},
	      {SYS_mount, 0, 0, ALLOWED}, {SYS_unshare, CLONE_NEWUSER, 0, ALLOWED},
	      {SYS_ptrace, 0, 0, ALLOWED}, {SYS_kcmp, 0, 0, ALLOWED},
	      {SYS_io_uring_setup, 0, 0, ALLOWED}, {SYS_socket, AF_AX25, 0, ALLOWED},
	      {SYS_userfaultfd, 0, 0, EPERM}, {SYS_bpf, 0, 0, EPERM});
}

static void test_other_abis(void **state)
{
	const struct policy_system_calls calls = {.guarded = true, .families = ~0ull};
	struct sock_fprog program;

	(void)state;
	build(&calls, &program);
	for (int call = 0; call < 500; call++) {
		assert_int_equal(verdict(&program, AUDIT_ARCH_I386, call, 0, 0), ENOSYS);
		assert_int_equal(verdict(&program, AUDIT_ARCH_AARCH64, call, 0, 0), ENOSYS);
		assert_int_equal(verdict(&program, AUDIT_ARCH_X86_64, 0x40000000 | call, 0, 0),
				 ENOSYS);
	}
	seccomp_filter_unmap(&program);
}

static void test_none(void **state)
{
	const struct policy_system_calls calls = {.all = true};
	struct failure failure = {};
	struct sock_fprog program;
	int fd;

	(void)state;
	assert_int_equal(seccomp_filter_build(&calls, &fd, &failure), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(seccomp_filter_map(fd, &program), 0);
	assert_null(program.filter);
	assert_int_equal(seccomp_filter_install(&program), 0);
	seccomp_filter_unmap(&program);
}

/* Nobody who was handed the filter can change it, and what is no filter is none. */
static void test_descriptor(void **state)
{
	const struct policy_system_calls calls = {.guarded = true};
	_cleanup_(closep) int fd = -1, other = memfd_create("other", MFD_CLOEXEC);
	struct failure failure = {};
	struct sock_fprog program;

	(void)state;
	assert_int_equal(seccomp_filter_build(&calls, &fd, &failure), 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(seccomp_filter_map(other, &program), -EBADMSG);
	assert_int_equal(write(other, "12345", 5), 5);
	assert_int_equal(seccomp_filter_map(other, &program), -EBADMSG);
}

static void test_kernel(void **state)
{
	const struct policy_system_calls calls = {.families = 1 << AF_UNIX};
	struct sock_fprog program;
	int status;
	pid_t pid;

	(void)state;
	build(&calls, &program);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    seccomp_filter_install(&program) < 0)
			_exit(1);
		if (syscall(SYS_keyctl, 0, 0, 0) != -1 || errno != EPERM)
			_exit(2);
		if (syscall(SYS_io_uring_setup, 0, 0) != -1 || errno != ENOSYS)
			_exit(3);
		if (syscall(SYS_socket, AF_APPLETALK, SOCK_DGRAM, 0) != -1 ||
		    errno != EAFNOSUPPORT || socket(AF_UNIX, SOCK_STREAM, 0) < 0)
			_exit(4);
		if (personality(READ_IMPLIES_EXEC) != -1 || errno != EPERM ||
		    personality(0xffffffff) < 0)
			_exit(5);
		_exit(syscall(SYS_getpid) > 0 ? 0 : 6);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	seccomp_filter_unmap(&program);
}

/*
 * In a child, which has the filter for good. The numbers: FALLOC_FL_PUNCH_HOLE with KEEP_SIZE,
 * RWF_DSYNC, RWF_NOAPPEND.
 */
static int appending(void)
{
	char name[] = "/tmp/seccompXXXXXX", byte = 'x';
	int fd = mkstemp(name);
	struct iovec word = {.iov_base = &byte, .iov_len = 1};
	unsigned long ring = 0;

	if (fd < 0 || unlink(name) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    seccomp_keep_appending() < 0)
		return 1;
	if (syscall(SYS_fallocate, fd, 3, 0l, 4096l) == 0 || errno != EOPNOTSUPP)
		return 2;
	if (syscall(SYS_fallocate, fd, 0, 0l, 4096l) < 0)
		return 3;
	if (syscall(SYS_fallocate, fd, 1, 0l, 8192l) < 0)
		return 4;
	if (syscall(SYS_pwritev2, fd, &word, 1ul, 0l, 0l, 0x20) >= 0 || errno != EOPNOTSUPP)
		return 5;
	if (syscall(SYS_pwritev2, fd, &word, 1ul, 0l, 0l, 0x2) != 1)
		return 6;
	if (syscall(SYS_io_setup, 1, &ring) == 0 || errno != ENOSYS)
		return 7;
	if (syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno != ENOSYS)
		return 8;
	return write(fd, "x", 1) == 1 ? 0 : 9;
}

static void test_appending(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(appending());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restricted),  cmocka_unit_test(test_strict),
		cmocka_unit_test(test_personality), cmocka_unit_test(test_settings),
		cmocka_unit_test(test_table),	    cmocka_unit_test(test_partly),
		cmocka_unit_test(test_families),    cmocka_unit_test(test_other_abis),
		cmocka_unit_test(test_none),	    cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_kernel),	    cmocka_unit_test(test_appending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
