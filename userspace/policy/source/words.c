/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the words that a policy may use, and their values. */
#include "policy/source/words.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "bpf/abi.h"

const struct word words_file_rights[] = {
	{"read", CORDON_RIGHT(CORDON_READ)},
	{"write", CORDON_RIGHT(CORDON_WRITE)},
	{"create", CORDON_RIGHT(CORDON_CREATE)},
	{"delete", CORDON_RIGHT(CORDON_DELETE)},
	{"metadata", CORDON_RIGHT(CORDON_METADATA)},
	{"special", CORDON_RIGHT(CORDON_SPECIAL)},
	{"all", CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE) |
			CORDON_RIGHT(CORDON_CREATE) | CORDON_RIGHT(CORDON_DELETE)},
	{NULL, 0},
};

const struct word words_exec_rights[] = {
	{"run", CORDON_RIGHT(CORDON_RUN)},
	{"map", CORDON_RIGHT(CORDON_MAP)},
	{"all", CORDON_EXEC_RIGHTS},
	{NULL, 0},
};

const struct word words_unix_rights[] = {
	{"connect", CORDON_RIGHT(CORDON_UNIX_CONNECT)},
	{"bind", CORDON_RIGHT(CORDON_UNIX_BIND)},
	{"all", CORDON_UNIX_RIGHTS},
	{NULL, 0},
};

const struct word words_network_rights[] = {
	{"connect", CORDON_RIGHT(CORDON_NET_CONNECT)}, {"bind", CORDON_RIGHT(CORDON_NET_BIND)},
	{"listen", CORDON_RIGHT(CORDON_NET_LISTEN)},   {"all", CORDON_NET_RIGHTS},
	{"socket", CORDON_RIGHT(CORDON_SOCKET)},       {NULL, 0},
};

const struct word words_capabilities[] = {
	{"chown", 0},
	{"dac_override", 1},
	{"dac_read_search", 2},
	{"fowner", 3},
	{"fsetid", 4},
	{"kill", 5},
	{"setgid", 6},
	{"setuid", 7},
	{"setpcap", 8},
	{"linux_immutable", 9},
	{"net_bind_service", 10},
	{"net_broadcast", 11},
	{"net_admin", 12},
	{"net_raw", 13},
	{"ipc_lock", 14},
	{"ipc_owner", 15},
	{"sys_module", 16},
	{"sys_rawio", 17},
	{"sys_chroot", 18},
	{"sys_ptrace", 19},
	{"sys_pacct", 20},
	{"sys_admin", 21},
	{"sys_boot", 22},
	{"sys_nice", 23},
	{"sys_resource", 24},
	{"sys_time", 25},
	{"sys_tty_config", 26},
	{"mknod", 27},
	{"lease", 28},
	{"audit_write", 29},
	{"audit_control", 30},
	{"setfcap", 31},
	{"mac_override", 32},
	{"mac_admin", 33},
	{"syslog", 34},
	{"wake_alarm", 35},
	{"block_suspend", 36},
	{"audit_read", 37},
	{"perfmon", 38},
	{"bpf", 39},
	{"checkpoint_restore", 40},
	{NULL, 0},
};

const struct word words_net_protocols[] = {
	{"tcp", IPPROTO_TCP},
	{"udp", IPPROTO_UDP},
	{"icmp", IPPROTO_ICMP},
	{NULL, 0},
};

const struct word words_socket_families[] = {
	{"unix", AF_UNIX},     {"inet", AF_INET},
	{"inet6", AF_INET6},   {"netlink", AF_NETLINK},
	{"packet", AF_PACKET}, {"bluetooth", AF_BLUETOOTH},
	{"can", AF_CAN},       {"tipc", AF_TIPC},
	{"alg", AF_ALG},       {"vsock", AF_VSOCK},
	{"kcm", AF_KCM},       {"qipcrtr", AF_QIPCRTR},
	{"xdp", AF_XDP},       {NULL, 0},
};

const struct word words_socket_types[] = {
	{"stream", SOCK_STREAM}, {"dgram", SOCK_DGRAM},		{"raw", SOCK_RAW},
	{"rdm", SOCK_RDM},	 {"seqpacket", SOCK_SEQPACKET}, {NULL, 0},
};

const struct word words_socket_protocols[] = {
	{"tcp", IPPROTO_TCP},	{"udp", IPPROTO_UDP},
	{"icmp", IPPROTO_ICMP}, {"icmpv6", IPPROTO_ICMPV6},
	{"igmp", IPPROTO_IGMP}, {"sctp", IPPROTO_SCTP},
	{"route", 0},		{NULL, 0},
};

const struct word words_severities[] = {
	{"info", 0}, {"low", 1}, {"medium", 2}, {"high", 3}, {"critical", 4}, {NULL, 0},
};

const struct word *words_rights(enum rule_kind kind)
{
	switch (kind) {
	case RULE_FILES:
		return words_file_rights;
	case RULE_EXEC:
		return words_exec_rights;
	case RULE_UNIX:
		return words_unix_rights;
	case RULE_NETWORK:
	case RULE_SOCKET:
		break;
	}
	return words_network_rights;
}

const struct word *words_find(const struct word *table, const char *text)
{
	for (; table->text; table++)
		if (strcmp(table->text, text) == 0)
			return table;
	return NULL;
}

const char *words_name(const struct word *table, uint32_t value)
{
	for (; table->text; table++)
		if (table->value == value)
			return table->text;
	return NULL;
}
