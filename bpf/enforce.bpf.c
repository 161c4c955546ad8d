/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The enforcement: one object for every supported kernel, loaded once and pinned. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#include "bpf/abi.h"
#include "bpf/kernel_constants.h"

#include "bpf/hook_attributes.bpf.h"
#include "bpf/hook_descriptor.bpf.h"
#include "bpf/hook_dns.bpf.h"
#include "bpf/hook_exec.bpf.h"
#include "bpf/hook_host.bpf.h"
#include "bpf/hook_ipc.bpf.h"
#include "bpf/hook_lifecycle.bpf.h"
#include "bpf/hook_metadata.bpf.h"
#include "bpf/hook_names.bpf.h"
#include "bpf/hook_open.bpf.h"
#include "bpf/hook_packet.bpf.h"
#include "bpf/hook_process.bpf.h"
#include "bpf/hook_receive.bpf.h"
#include "bpf/hook_socket.bpf.h"
#include "bpf/hook_system_call.bpf.h"
#include "bpf/hook_transfer.bpf.h"
#include "bpf/hook_unix.bpf.h"

/* Behind what reports the exec: from there on a held execution is refused everything. */
#include "bpf/hook_adopt.bpf.h"
#include "bpf/hook_begin.bpf.h"

#include "bpf/control.bpf.h"
#include "bpf/descriptors.bpf.h"

#ifdef CORDON_VARIANT
/* One that no other build has: for tests of a build that takes over from another. */
SEC("syscall")
int cordon_variant(void *ctx)
{
	return 0;
}
#endif

/* Helpers used here are offered to GPL-compatible programs only. */
char LICENSE[] SEC("license") = "GPL";
