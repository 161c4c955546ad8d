/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Reads of kernel memory by address. A read that fails gives 0. */
#ifndef CORDON_BPF_READ_BPF_H
#define CORDON_BPF_READ_BPF_H

/*
 * Makes an address a pointer for direct loads. A load that faults gives 0, like a probe read here,
 * and costs a tenth of it. Since Linux 6.2.
 */
extern void *bpf_rdonly_cast(const void *address, __u32 type) __ksym __weak;

/*
 * Direct loads are used on kernels with this type, since Linux 6.5. This is decided when the
 * program is loaded, and the other branch is then removed as dead code. The hint makes clang place
 * all such branches at the end of a function, where the verifier removes them together. Each
 * removal in the middle would move all instructions after it (verifier_remove_insns()).
 */
#define HAS_DIRECT_LOADS __builtin_expect(bpf_core_type_exists(struct backing_file), 1)

static __always_inline __u64 read_u64(__u64 address)
{
	__u64 value = 0;

	if (HAS_DIRECT_LOADS) {
		/* Any type that begins with a number of this size. */
		const struct timespec64 *at = bpf_rdonly_cast(
			(const void *)address, bpf_core_type_id_kernel(struct timespec64));

		return at->tv_sec;
	}
	bpf_probe_read_kernel(&value, sizeof(value), (const void *)address);
	/* Keeps the compiler from merging loads of the two branches. */
	barrier_var(value);
	return value;
}

static __always_inline __u32 read_u32(__u64 address)
{
	__u32 value = 0;

	if (HAS_DIRECT_LOADS) {
		const struct seqcount *at = bpf_rdonly_cast(
			(const void *)address, bpf_core_type_id_kernel(struct seqcount));

		return at->sequence;
	}
	bpf_probe_read_kernel(&value, sizeof(value), (const void *)address);
	/* Keeps the compiler from merging loads of the two branches. */
	barrier_var(value);
	return value;
}

/*
 * Makes a kernel object readable without trust. For each pointer loaded through a trusted one, the
 * verifier searches the names of all kernel types (btf_nested_type_is_trusted()). It thus finds out
 * whether the result is trusted as well. That takes a million instructions for each load on each
 * path. Through this pointer nothing is trusted, and a fault reads 0.
 */
#define DEFINE_READ(name, type)                                                                    \
	static __always_inline const struct type *name(const struct type *object)                  \
	{                                                                                          \
		if (HAS_DIRECT_LOADS)                                                              \
			return bpf_rdonly_cast(object, bpf_core_type_id_kernel(struct type));      \
		return object;                                                                     \
	}

DEFINE_READ(read_task, task_struct)
DEFINE_READ(read_path, path)
DEFINE_READ(read_file, file)

#define FIELD(type, base, field) ((__u64)(base) + bpf_core_field_offset(type, field))

/* Names up to this length are read in words. */
#define SHORT_NAME 32u

/*
 * Copies a name to `to`, which is aligned and has CORDON_NAME_MAX + 1 bytes. Bytes after the name
 * may be copied, too. Returns false if the name cannot be read. A failed direct load gives NUL, and
 * no name begins with NUL.
 */
static __always_inline bool read_name(__u8 *to, __u64 name, __u32 length)
{
	__u64 *words = (__u64 *)to;

	if (HAS_DIRECT_LOADS && length <= SHORT_NAME) {
		words[0] = read_u64(name);
		if (length > 8)
			words[1] = read_u64(name + 8);
		if (length > 16)
			words[2] = read_u64(name + 16);
		if (length > 24)
			words[3] = read_u64(name + 24);
		return to[0] != 0;
	}
	return length <= CORDON_NAME_MAX &&
	       bpf_probe_read_kernel(to, length & CORDON_NAME_MAX, (const void *)name) == 0;
}

/*
 * Copies a string from the current task's memory to `to`, which has `size` bytes, at least 1.
 * Returns the bytes copied, the NUL included; `size` if the string is that long or longer; -EFAULT
 * if the memory cannot be read. Only this function calls the helper (tests/lint/run),
 * because before Linux 6.15 the helper returns 0 for an empty string
 * (strncpy_from_user_nofault(), mm/maccess.c).
 */
static __always_inline long read_user_string(char *to, __u32 size, __u64 from)
{
	long copied = bpf_probe_read_user_str(to, size, (const void *)from);

	if (copied)
		return copied;
	to[0] = 0;
	return 1;
}

#endif
