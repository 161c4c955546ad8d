/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The enforcement: one object for every supported kernel, loaded once and pinned. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#include "bpf/abi.h"
#include "bpf/pure/kernel_constants.h"

#include "bpf/core/every_name.bpf.h"
#include "bpf/core/elsewhere.bpf.h"
#include "bpf/hooks/directories.bpf.h"
#include "bpf/hooks/temporary.bpf.h"
#include "bpf/hooks/terminal.bpf.h"
#include "bpf/hooks/adopt.bpf.h"
#include "bpf/hooks/attempt.bpf.h"
#include "bpf/hooks/attributes.bpf.h"
#include "bpf/hooks/credentials.bpf.h"
#include "bpf/hooks/descriptor.bpf.h"
#include "bpf/hooks/dns.bpf.h"
#include "bpf/hooks/exec.bpf.h"
#include "bpf/hooks/host.bpf.h"
#include "bpf/hooks/ipc.bpf.h"
#include "bpf/hooks/lifecycle.bpf.h"
#include "bpf/hooks/metadata.bpf.h"
#include "bpf/hooks/names.bpf.h"
#include "bpf/hooks/netlink.bpf.h"
#include "bpf/hooks/open.bpf.h"
#include "bpf/hooks/packet.bpf.h"
#include "bpf/hooks/process.bpf.h"
#include "bpf/hooks/receive.bpf.h"
#include "bpf/hooks/socket.bpf.h"
#include "bpf/hooks/system_call.bpf.h"
#include "bpf/hooks/transfer.bpf.h"
#include "bpf/hooks/unix.bpf.h"
#include "bpf/hooks/watch.bpf.h"

#include "bpf/control/control.bpf.h"
#include "bpf/control/descriptors.bpf.h"

#include "bpf/hooks/engine.bpf.h"

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
