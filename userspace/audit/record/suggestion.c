/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest rule that would have allowed what was refused. */
#include "audit/record/suggestion.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "audit/record/names.h"
#include "audit/record/object.h"
#include "audit/text/text.h"
#include "base/temporary_directory.h"
#include "bpf/pure/system_calls.h"
#include "policy/source/host_name.h"

struct section {
	const char *name;
	uint32_t rights;
};

static const struct section sections[] = {
	{"files", CORDON_FILE_RIGHTS},
	{"exec", CORDON_EXEC_RIGHTS},
	{"unix", CORDON_UNIX_RIGHTS},
	{"network", CORDON_NET_RIGHTS},
};

void suggestion_free(struct suggestion *suggestion)
{
	free(suggestion->rule);
	free(suggestion->why);
}

/* "[read, write]", as the section spells them. */
static void write_verbs(struct buffer *out, uint32_t rights)
{
	const char *separator = "";

	buffer_literal(out, "[");
	for (uint32_t right = 0; right < CORDON_RIGHT_COUNT; right++) {
		const char *name;

		if (!(rights & CORDON_RIGHT(right)))
			continue;
		name = name_of_right(right);
		if (right == CORDON_UNIX_CONNECT)
			name = "connect";
		else if (right == CORDON_UNIX_BIND)
			name = "bind";
		buffer_string(out, separator);
		buffer_string(out, name);
		separator = ", ";
	}
	buffer_literal(out, "]");
}

static bool is_plain(unsigned char byte)
{
	switch (byte) {
	case '*':
	case '?':
	case '[':
	case ']':
	case '{':
	case '}':
	case '\\':
	case '$':
	case '"':
		return false;
	default:
		return byte >= 0x20 && byte < 0x7f;
	}
}

static void write_character(struct buffer *out, uint32_t character, const char *bytes,
			    size_t length)
{
	if (character == '\\')
		buffer_literal(out, "\\\\\\\\");
	else if (character < 0x80 && strchr("*?[]{}$", (int)character))
		buffer_print(out, "\\\\%c", (int)character);
	else if (character == '"')
		buffer_literal(out, "\\\"");
	else if (text_is_harmless(character))
		buffer_add(out, bytes, length);
	else if (character < 0x100)
		buffer_print(out, "\\x%02X", character);
	else if (character < 0x10000)
		buffer_print(out, "\\u%04X", character);
	else
		buffer_print(out, "\\U%08X", character);
}

/* As in "@(": a group of a shell, which patterns do not have. */
static bool opens_group(const char *bytes, size_t at)
{
	return bytes[at] == '(' && at > 0 && strchr("!@+", bytes[at - 1]);
}

/* As a double-quoted YAML scalar that is a pattern for exactly these bytes. */
static void write_pattern(struct buffer *out, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t length = 0;
		uint32_t character;

		while (i + length < size && is_plain((unsigned char)bytes[i + length]) &&
		       !opens_group(bytes, i + length))
			length++;
		buffer_add(out, bytes + i, length);
		i += length;
		if (i == size)
			break;
		character = text_character(bytes + i, size - i, &length);
		if (length == 0)
			buffer_print(out, "\\\\x%02x", (unsigned char)bytes[i]);
		else if (character == '(')
			buffer_literal(out, "\\\\(");
		else
			write_character(out, character, bytes + i, length);
		i += length ? length : 1;
	}
}

/* Is the path the directory or below it? *ret_rest: what follows. */
static bool below(const char *path, size_t size, const char *directory, size_t *ret_rest)
{
	size_t length = directory ? strlen(directory) : 0;

	while (length > 0 && directory[length - 1] == '/')
		length--;
	if (length == 0 || size < length || memcmp(path, directory, length) != 0)
		return false;
	if (size > length && path[length] != '/')
		return false;
	*ret_rest = length;
	return true;
}

static void write_name(struct buffer *out, const struct audit_execution *execution,
		       const struct decoded_access *access)
{
	const char *name = (const char *)access->object;
	size_t size = access->object_length, rest = 0;

	buffer_literal(out, "\"");
	if (access->object_kind == CORDON_OBJECT_PATH &&
	    below(name, size, execution->workdir, &rest))
		buffer_literal(out, "${workdir}");
	write_pattern(out, name + rest, size - rest);
	buffer_literal(out, "\"");
}

static void write_destination(struct buffer *out, const struct decoded_access *access)
{
	struct decoded_address address;
	char host[INET6_ADDRSTRLEN];

	decode_address(access, &address);
	object_format_address(&address, host);
	buffer_print(out, address.family == 4 ? "to: [%s], " : "to: [\"%s\"], ", host);
	if (address.protocol != IPPROTO_ICMP)
		buffer_print(out, "ports: [%u], ", address.port);
	buffer_print(out, "protocols: [%s]", name_of_protocol(address.protocol));
}

/* Any port lets the name be looked up; which one is wanted, whoever asks does not say. */
static void write_host(struct buffer *out, const struct decoded_access *access)
{
	buffer_literal(out, "to: [\"");
	buffer_add(out, access->object, access->object_length);
	buffer_literal(out, "\"], ports: [443], protocols: [tcp]");
}

static void write_socket(struct buffer *out, const struct decoded_access *access)
{
	const char *family, *type;
	struct decoded_socket s;

	decode_socket(access, &s);
	family = name_of_family(s.family);
	type = name_of_socket_type(s.type);
	buffer_literal(out, "network:\n  - {allow: [socket], families: [");
	if (family)
		buffer_print(out, "%s], types: [", family);
	else
		buffer_print(out, "%u], types: [", s.family);
	if (type)
		buffer_print(out, "%s]", type);
	else
		buffer_print(out, "%u]", s.type);
	if (s.protocol)
		buffer_print(out, ", protocols: [%u]", s.protocol);
	buffer_literal(out, "}");
}

static void write_rules(struct buffer *out, const struct audit_execution *execution,
			const struct decoded_access *access)
{
	const char *separator = "";

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		uint32_t rights = access->rights & sections[i].rights;

		if (!rights)
			continue;
		buffer_string(out, separator);
		buffer_string(out, sections[i].name);
		buffer_literal(out, ":\n  - {allow: ");
		write_verbs(out, rights);
		buffer_literal(out, ", ");
		if (access->object_kind == CORDON_OBJECT_NET) {
			write_destination(out, access);
		} else if (access->object_kind == CORDON_OBJECT_HOST) {
			write_host(out, access);
		} else {
			buffer_string(out, access->object_kind == CORDON_OBJECT_ABSTRACT
						   ? "abstract: ["
						   : "paths: [");
			write_name(out, execution, access);
			buffer_literal(out, "]");
		}
		buffer_literal(out, "}");
		separator = "\n";
	}
}

#define CASE(name) case SYS_##name:

/* The smallest word that takes a call out of the filter; hooks then judge it. */
static const char *setting_for_call(__u64 number)
{
	switch (number) {
		CORDON_SYSTEM_CALLS_IO_URING(CASE)
		return "process: {io_uring: allow}";
		CORDON_SYSTEM_CALLS_GUARDED_TRACING(CASE)
		return "process: {trace: own}";
		CORDON_SYSTEM_CALLS_GUARDED(CASE)
		CORDON_SYSTEM_CALLS_GUARDED_MOUNTS(CASE)
	case SYS_clone:
	case SYS_unshare:
	case SYS_ioctl:
		return "process: {system_calls: restricted}";
	default:
		return "process: {system_calls: all}";
	}
}

#undef CASE

/* Opened to make a terminal, which is of use only if that may be opened as well. */
static bool makes_terminal(const struct decoded_access *access)
{
	static const char *const names[] = {"/dev/ptmx", "/dev/pts/ptmx"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (access->object_kind == CORDON_OBJECT_PATH &&
		    access->object_length == strlen(names[i]) &&
		    memcmp(access->object, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* What no rule decides, but a word in the section process. False: nothing there, either. */
static bool write_process_setting(struct buffer *out, const struct decoded_access *access)
{
	const char *name;
	__u64 number;

	switch (access->operation) {
	case CORDON_OP_CAPABLE:
		if (access->object_kind != CORDON_OBJECT_NUMBER)
			return false;
		memcpy(&number, access->object, sizeof(number));
		name = name_of_capability(number);
		if (!name)
			return false;
		buffer_literal(out, "process: {capabilities: [");
		for (name += strlen("CAP_"); *name; name++)
			buffer_print(out, "%c", tolower((unsigned char)*name));
		buffer_literal(out, "]}");
		return true;
	case CORDON_OP_SYSTEM_CALL:
		if (access->object_kind != CORDON_OBJECT_NUMBER)
			return false;
		memcpy(&number, access->object, sizeof(number));
		buffer_print(out, "%s", setting_for_call(number));
		return true;
	case CORDON_OP_USERNS:
		buffer_literal(out, "process: {namespaces: allow}");
		return true;
	case CORDON_OP_TRACE:
		buffer_literal(out, "process: {trace: own}");
		return true;
	case CORDON_OP_SIGNAL:
		buffer_literal(out, "process: {signal: any}");
		return true;
	case CORDON_OP_OPEN:
		if (!makes_terminal(access))
			return false;
		buffer_literal(out, "process: {terminals: own}");
		return true;
	default:
		return false;
	}
}

static bool host_is_plain(const struct decoded_access *access)
{
	char text[HOST_NAME_SIZE], name[HOST_NAME_SIZE];

	if (access->object_length >= sizeof(text))
		return false;
	memcpy(text, access->object, access->object_length);
	text[access->object_length] = '\0';
	return strlen(text) == access->object_length && host_name_read(text, false, name) == 0;
}

/* Why no rule can be written for this object, or NULL. */
static const char *unsayable(const struct decoded_access *access)
{
	bool named = false;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		named |= (access->rights & sections[i].rights) != 0;
	switch (access->object_kind) {
	case CORDON_OBJECT_PATH:
	case CORDON_OBJECT_SPECIAL:
	case CORDON_OBJECT_ABSTRACT:
		if (!named)
			return "no rule grants this right on a name";
		if (access->object_total > access->object_length)
			return "its name is longer than what was recorded: allow a directory above";
		return NULL;
	case CORDON_OBJECT_NET: {
		struct decoded_address address;

		decode_address(access, &address);
		if (address.protocol != IPPROTO_TCP && address.protocol != IPPROTO_UDP &&
		    address.protocol != IPPROTO_ICMP)
			return "rules know the protocols tcp, udp and icmp only";
		return named ? NULL : "no rule grants this right on an address";
	}
	case CORDON_OBJECT_HOST:
		/* None but what the DNS stub let pass as a name. */
		return host_is_plain(access) ? NULL : "it is no host name";
	case CORDON_OBJECT_SOCKET:
		return NULL;
	default:
		return "no rule speaks of this";
	}
}

static const char *builtin_against(uint32_t operation)
{
	if (operation == CORDON_OP_MOUNT || operation == CORDON_OP_CHROOT)
		return "no policy can allow this on the host; in namespaces of its own an execution "
		       "may under `process: {namespaces: own}`";
	return "no policy can allow this";
}

static const char *reason_against(uint8_t reason, uint32_t operation)
{
	switch (reason) {
	case CORDON_REASON_RULE:
		return "a rule denies it, and deny beats allow: narrow or remove that rule, or list "
		       "an exception where its file is included";
	case CORDON_REASON_WIDENS:
		return "the new name would grant more than the old one does, or a directory could "
		       "bring names that may not be made there: allow the same on both names, or "
		       "copy instead";
	case CORDON_REASON_UNRESOLVED:
		return "the object has no name that a rule could match: it is deleted, too deep, "
		       "or outside the execution's mounts";
	case CORDON_REASON_UNKNOWN:
		return "the process belongs to no execution that is alive";
	case CORDON_REASON_BUILTIN:
		return builtin_against(operation);
	case CORDON_REASON_FOREIGN:
		return "it belongs to another execution or to the host, and no policy can allow "
		       "that";
	case CORDON_REASON_CHANGED:
		return "it is not the code that was hashed, and the policy pins that";
	case CORDON_REASON_PERMISSIONS:
		return "the host's own permissions deny it, whatever the policy says";
	case CORDON_REASON_ENDING:
		return "the execution was being ended";
	default:
		return NULL;
	}
}

const char *suggestion_write(const struct audit_execution *execution,
			     const struct decoded_access *access, uint8_t reason,
			     struct buffer *out)
{
	const char *why = reason_against(reason, access->operation);

	if (why || write_process_setting(out, access))
		return why;
	if (access->object_temporary && access->rights & CORDON_RIGHT(CORDON_SPECIAL) &&
	    is_directly_temporary((const char *)access->object, access->object_length))
		return "what leads others away or has them wait is not made where everybody has "
		       "temporary files: make it in a directory of its own there";
	if (access->object_kind == CORDON_OBJECT_PATH &&
	    access->rights == CORDON_RIGHT(CORDON_LINKS))
		return "the file has other names, which the execution did not make, and would "
		       "change by those as well: replace it rather than change it, or add `links: "
		       "shared` to the rule that allows to write it";
	why = unsayable(access);
	if (!why && access->object_kind == CORDON_OBJECT_SOCKET)
		write_socket(out, access);
	else if (!why)
		write_rules(out, execution, access);
	return why;
}

int suggestion_make(const struct audit_execution *execution, const struct decoded_access *access,
		    uint8_t reason, struct suggestion *ret)
{
	struct suggestion suggestion = {0};
	struct buffer out = {};
	const char *why = suggestion_write(execution, access, reason, &out);

	buffer_add(&out, "", 1);
	if (why)
		suggestion.why = strdup(why);
	else if (!out.failed)
		suggestion.rule = TAKE_PTR(out.data);
	buffer_free(&out);
	if (!suggestion.why && !suggestion.rule)
		return -ENOMEM;
	*ret = suggestion;
	return 0;
}
