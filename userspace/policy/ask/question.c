/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one access in its text form, and evaluates a compiled policy for it. */
#include "policy/ask/question.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>

#include "base/suggest.h"
#include "base/temporary_directory.h"
#include "bpf/pure/own_host.h"
#include "policy/source/host_name.h"
#include "policy/source/units.h"
#include "policy/source/words.h"

static int _printf_(2, 3) refuse(char error[QUESTION_ERROR_TEXT], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, QUESTION_ERROR_TEXT, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

void question_release(struct policy_question *q)
{
	free(q->bytes);
	q->bytes = NULL;
}

static const struct {
	const char *name, *section;
} rights[CORDON_RIGHT_COUNT] = {
	[CORDON_READ] = {"read", "files"},
	[CORDON_WRITE] = {"write", "files"},
	[CORDON_CREATE] = {"create", "files"},
	[CORDON_DELETE] = {"delete", "files"},
	[CORDON_METADATA] = {"metadata", "files"},
	[CORDON_RUN] = {"run", "exec"},
	[CORDON_MAP] = {"map", "exec"},
	[CORDON_UNIX_CONNECT] = {"connect", "unix"},
	[CORDON_UNIX_BIND] = {"bind", "unix"},
	[CORDON_NET_CONNECT] = {"connect", "network"},
	[CORDON_NET_BIND] = {"bind", "network"},
	[CORDON_NET_LISTEN] = {"listen", "network"},
	[CORDON_SOCKET] = {"socket", "network"},
	[CORDON_NET_HOST] = {"host", "network"},
	[CORDON_SPECIAL] = {"special", "files"},
	[CORDON_LINKS] = {"links", "files"},
};

const char *question_right_name(unsigned int right)
{
	return rights[right].name;
}

const char *question_section(unsigned int right)
{
	return rights[right].section;
}

static int find_right(const char *word, const char *section, unsigned int *ret_right)
{
	for (unsigned int i = 0; i < CORDON_RIGHT_COUNT; i++)
		if (i != CORDON_METADATA && strcmp(rights[i].name, word) == 0 &&
		    strcmp(rights[i].section, section) == 0) {
			*ret_right = i;
			return 0;
		}
	return -ENOENT;
}

/* ---- names ---- */

static bool is_name(const char *name)
{
	const char *p = name;

	if (*p != '/')
		return false;
	if (!p[1])
		return true;
	while (*p == '/') {
		size_t n = strcspn(++p, "/");

		if (n == 0 || n > CORDON_NAME_MAX || (n == 1 && p[0] == '.') ||
		    (n == 2 && memcmp(p, "..", 2) == 0))
			return false;
		p += n;
	}
	return true;
}

/*
 * The length of `directory` if `name` starts with it, 0 for the root. POLICY_NO_ANCHOR: it does
 * not.
 */
static size_t find_anchor(const char *name, const char *directory)
{
	size_t n = directory ? strlen(directory) : 0;

	while (n && directory[n - 1] == '/')
		n--;
	if (!directory || strncmp(name, directory, n) != 0 || (name[n] && name[n] != '/'))
		return POLICY_NO_ANCHOR;
	return n;
}

/* Splits "${workdir}/x" into the variable's number and the rest. */
static int split_variable(const struct compiled_policy *policy, const char *object,
			  unsigned int *ret_anchor, const char **ret_rest,
			  char error[QUESTION_ERROR_TEXT])
{
	const char *close = strchr(object, '}');
	size_t n = close ? (size_t)(close - object) - 2 : 0;

	for (unsigned int i = 0; close && i < CORDON_MAX_ANCHORS; i++) {
		const char *name = policy->anchor_names[i];

		if (!name || strlen(name) != n || memcmp(name, object + 2, n) != 0)
			continue;
		if (close[1] && close[1] != '/')
			return refuse(error, "put a '/' behind the variable in \"%s\"", object);
		*ret_anchor = i;
		*ret_rest = close + 1;
		return 0;
	}
	return refuse(error, "\"%s\" starts with a variable that the policy does not know", object);
}

static int read_name(const struct compiled_policy *policy, const char *object,
		     const char *const directories[CORDON_MAX_ANCHORS], struct policy_question *q,
		     char error[QUESTION_ERROR_TEXT])
{
	const char *bound[CORDON_MAX_ANCHORS], *rest = object;
	_cleanup_(freep) char *place = NULL;
	unsigned int anchor = 0;
	size_t n;
	int r;

	memcpy(bound, directories, sizeof(bound));
	if (strncmp(object, "${", 2) == 0) {
		r = split_variable(policy, object, &anchor, &rest, error);
		if (r < 0)
			return r;
		if (asprintf(&place, "/${%s}", policy->anchor_names[anchor]) < 0)
			return -ENOMEM;
		if (!bound[anchor])
			bound[anchor] = place;
		n = find_anchor(bound[anchor], bound[anchor]);
		r = asprintf(&q->bytes, "%.*s%s", (int)n, bound[anchor], rest);
	} else {
		r = asprintf(&q->bytes, "%s", object);
	}
	if (r < 0)
		return -ENOMEM;
	n = strlen(q->bytes);
	if (n > 1 && q->bytes[n - 1] == '/') {
		q->path.listing = true;
		q->bytes[--n] = '\0';
	} else if (n == 0) {
		/* The variable is bound to the root. */
		free(q->bytes);
		q->bytes = strdup("/");
		n = 1;
	}
	if (!q->bytes)
		return -ENOMEM;
	if (!is_name(q->bytes))
		return refuse(
			error,
			"\"%s\" is no resolved name: write it absolute, without '.', '..' and "
			"empty components",
			object);
	for (unsigned int i = 0; i < CORDON_MAX_ANCHORS; i++)
		q->path.anchors[i] = find_anchor(q->bytes, bound[i]);
	q->size = n;
	return 0;
}

static int refuse_right(const char *right, char error[QUESTION_ERROR_TEXT])
{
	static const char *const words[] = {"read",   "list",	 "write",  "create", "symlink",
					    "delete", "special", "run",	   "map",    "connect",
					    "bind",   "listen",	 "socket", "host"};
	const char *near = suggest(right, words, ARRAY_SIZE(words));

	return refuse(error,
		      "\"%s\" is no right on a name: one of read, list, write, create, symlink, "
		      "delete, special, run, map, connect%s%s%s",
		      right, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int ask_name(const struct compiled_policy *policy, const char *right, const char *object,
		    const char *const directories[CORDON_MAX_ANCHORS], struct policy_question *q,
		    char error[QUESTION_ERROR_TEXT])
{
	bool list = strcmp(right, "list") == 0, link = strcmp(right, "symlink") == 0;
	const char *word = list ? "read" : link ? "create" : right;
	int r;

	q->start = CORDON_START_PATH;
	for (unsigned int i = 0; i < CORDON_MAX_ANCHORS; i++)
		q->path.anchors[i] = POLICY_NO_ANCHOR;
	if (strcmp(right, "bind") == 0)
		return refuse(error, "binding to a path creates a file: check \"create\" instead");
	if (find_right(word, "files", &q->right) < 0 && find_right(word, "exec", &q->right) < 0 &&
	    find_right(word, "unix", &q->right) < 0)
		return refuse_right(right, error);
	if (*object == '@') {
		if ((strcmp(object, "@anonymous") != 0 && strcmp(object, "@memfd") != 0) ||
		    !(CORDON_RIGHT(q->right) & CORDON_EXEC_RIGHTS))
			return refuse(error, "@anonymous and @memfd can only be run or mapped");
		q->bytes = strdup(object);
		q->size = strlen(object);
	} else {
		r = read_name(policy, object, directories, q, error);
		if (r < 0)
			return r;
	}
	if (!q->bytes)
		return -ENOMEM;
	if (q->path.listing && q->right != CORDON_READ)
		return refuse(error, "only \"read\" can have a name that ends in '/'");
	q->path.listing |= list && q->size > 1;
	q->path.link = link;
	q->path.name = q->bytes;
	q->path.size = q->size;
	return 0;
}

/* ---- addresses ---- */

static int set_bytes(struct policy_question *q, const void *bytes, size_t size)
{
	q->bytes = malloc(size + 1);
	if (!q->bytes)
		return -ENOMEM;
	memcpy(q->bytes, bytes, size);
	q->bytes[size] = '\0';
	q->size = size;
	return 0;
}

/* "203.0.113.1:443", "[2001:db8::1]:443"; a port is missing where the protocol has none. */
static bool split_address(const char *text, char address[HOST_NAME_SIZE + 1], const char **ret_port)
{
	const char *end, *begin = text + (*text == '[');

	end = *text == '[' ? strchr(begin, ']') : strrchr(begin, ':');
	if (*text != '[' && end && strchr(begin, ':') != end)
		end = NULL; /* IPv6 without brackets has no port */
	if (*text == '[' && !end)
		return false;
	if (!end)
		end = begin + strlen(begin);
	if (end - begin > HOST_NAME_SIZE)
		return false;
	memcpy(address, begin, (size_t)(end - begin));
	address[end - begin] = '\0';
	end += *end == ']';
	*ret_port = *end == ':' ? end + 1 : NULL;
	return !*end || *end == ':';
}

static int ask_host(const char *name, uint8_t protocol, uint16_t port, struct policy_question *q)
{
	unsigned char bytes[2 + HOST_NAME_SIZE + 2] = {CORDON_NET_NAME, protocol};
	size_t n = 2 + strlen(name) + 1;

	host_name_reverse(name, (char *)bytes + 2);
	bytes[n++] = (unsigned char)(port >> 8);
	bytes[n++] = (unsigned char)port;
	return set_bytes(q, bytes, n);
}

static int refuse_address(const char *object, char error[QUESTION_ERROR_TEXT])
{
	return refuse(
		error,
		"\"%.100s\" is no name with a port such as example.org:443, and no address such "
		"as tcp:203.0.113.1:443 or udp:[2001:db8::1]:53",
		object);
}

/* Requires that q->right is already set. */
static int ask_address(const char *object, struct policy_question *q,
		       char error[QUESTION_ERROR_TEXT])
{
	unsigned char bytes[20];
	struct number_range port = {0, 0};
	struct net_block block;
	const char *text = object, *port_text;
	char address[HOST_NAME_SIZE + 1], name[HOST_NAME_SIZE];
	uint8_t protocol = IPPROTO_TCP;
	size_t n;

	q->start = CORDON_START_NET;
	for (const struct word *w = words_net_protocols; w->text; w++) {
		n = strlen(w->text);
		if (strncmp(object, w->text, n) == 0 && object[n] == ':') {
			protocol = (uint8_t)w->value;
			text = object + n + 1;
		}
	}
	if (!split_address(text, address, &port_text))
		return refuse_address(object, error);
	if (units_block(address, &block) < 0 || block.prefix != (block.family == 4 ? 32 : 128)) {
		if (!port_text || host_name_read(address, false, name) < 0 ||
		    q->right != CORDON_NET_CONNECT ||
		    strspn(address, "0123456789.") == strlen(address))
			return refuse_address(object, error);
		/* Rules cannot contain these names either, see the reading of "to". */
		if (host_name_is_loopback(name))
			return refuse(error,
				      "names do not lead to the host itself, as \"%s\" would: use "
				      "127.0.0.1 or [::1]",
				      address);
		if (host_name_is_every(name))
			return refuse(error, "\"%s\" is not an address: use a single address",
				      address);
		block.family = CORDON_NET_NAME;
	}
	if (protocol == IPPROTO_ICMP
		    ? port_text != NULL
		    : !port_text || units_ports(port_text, &port) < 0 || port.low != port.high)
		return refuse(error, "\"%s\" needs %s", object,
			      protocol == IPPROTO_ICMP ? "no port" : "a port");
	if (block.family == CORDON_NET_NAME)
		return ask_host(name, protocol, port.low, q);
	if (protocol == IPPROTO_ICMP && block.family == 6)
		protocol = IPPROTO_ICMPV6;
	if (q->right == CORDON_NET_CONNECT) {
		__u32 words[4];

		memcpy(words, block.address, sizeof(words));
		spell_own_host(words, block.family == 6);
		memcpy(block.address, words, sizeof(words));
	}
	n = block.family == 4 ? 4 : 16;
	bytes[0] = block.family;
	bytes[1] = protocol;
	memcpy(bytes + 2, block.address, n);
	bytes[2 + n] = (unsigned char)(port.low >> 8);
	bytes[3 + n] = (unsigned char)port.low;
	return set_bytes(q, bytes, n + 4);
}

/* ---- sockets ---- */

static bool read_number(const struct word *table, const char *text, size_t size, uint64_t maximum,
			uint64_t *ret_number)
{
	char copy[32];
	const struct word *w;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	copy[size] = '\0';
	w = words_find(table, copy);
	if (w)
		*ret_number = w->value;
	return w || (units_number(copy, ret_number) == 0 && *ret_number <= maximum);
}

static int ask_socket(const char *object, struct policy_question *q,
		      char error[QUESTION_ERROR_TEXT])
{
	const char *type = strchr(object, '/'), *protocol = type ? strchr(type + 1, '/') : NULL;
	uint64_t numbers[3];
	unsigned char bytes[4];

	q->start = CORDON_START_SOCKET;
	q->right = CORDON_SOCKET;
	if (!protocol ||
	    !read_number(words_socket_families, object, (size_t)(type - object), UINT8_MAX,
			 &numbers[0]) ||
	    !read_number(words_socket_types, type + 1, (size_t)(protocol - type) - 1, UINT8_MAX,
			 &numbers[1]) ||
	    !read_number(words_socket_protocols, protocol + 1, strlen(protocol + 1), UINT16_MAX,
			 &numbers[2]))
		return refuse(error,
			      "write the socket \"%s\" as FAMILY/TYPE/PROTOCOL: netlink/raw/route",
			      object);
	bytes[0] = (unsigned char)numbers[0];
	bytes[1] = (unsigned char)numbers[1];
	bytes[2] = (unsigned char)(numbers[2] >> 8);
	bytes[3] = (unsigned char)numbers[2];
	return set_bytes(q, bytes, sizeof(bytes));
}

static int ask_abstract(const char *right, const char *name, struct policy_question *q,
			char error[QUESTION_ERROR_TEXT])
{
	q->start = CORDON_START_ABSTRACT;
	if (find_right(right, "unix", &q->right) < 0)
		return refuse(error, "\"%s\" is no right on an abstract name: connect or bind",
			      right);
	return set_bytes(q, name, strlen(name));
}

int question_read(const struct compiled_policy *policy, const char *right, const char *object,
		  const char *const directories[CORDON_MAX_ANCHORS],
		  struct policy_question *ret_question, char error[QUESTION_ERROR_TEXT])
{
	struct policy_question q = {0};
	int r;

	if (strcmp(right, "socket") == 0)
		r = ask_socket(object, &q, error);
	else if (strncmp(object, "abstract:", 9) == 0)
		r = ask_abstract(right, object + 9, &q, error);
	else if (*object != '/' && *object != '@' && strncmp(object, "${", 2) != 0 &&
		 find_right(right, "network", &q.right) == 0)
		r = ask_address(object, &q, error);
	else
		r = ask_name(policy, right, object, directories, &q, error);
	if (r < 0)
		question_release(&q);
	else
		*ret_question = q;
	return r;
}

int question_judge(const struct compiled_policy *policy, const struct policy_question *q,
		   struct policy_answer *ret_answer)
{
	uint32_t wanted = CORDON_RIGHT(q->right);

	if (q->start == CORDON_START_PATH)
		return policy_judge_path(policy->tables, policy->tables_size, &q->path, wanted,
					 ret_answer);
	return policy_judge(policy->tables, policy->tables_size, q->start, q->bytes, q->size,
			    wanted, ret_answer);
}

/*
 * An execution may always connect to a socket that it has made (bpf/hooks/unix.bpf.h). Checks
 * whether the policy lets it make a socket with this name.
 */
static bool is_own_socket(const struct compiled_policy *policy,
			  const struct cordon_policy_header *header,
			  const struct policy_question *q, struct policy_answer *ret_answer)
{
	struct policy_question made = *q;
	struct policy_answer special, answer, temporary;

	made.right = q->start == CORDON_START_PATH ? CORDON_CREATE : CORDON_UNIX_BIND;
	if (question_judge(policy, &made, &answer) < 0)
		return false;
	if (answer.missing && question_allowed_if_own(policy, &made, &temporary))
		answer = temporary;
	if (answer.missing)
		return false;
	if (q->start == CORDON_START_PATH && header->flags & CORDON_POLICY_SPECIAL) {
		made.right = CORDON_SPECIAL;
		if (question_judge(policy, &made, &special) < 0 ||
		    (special.missing && !question_allowed_if_own(policy, &made, &special)))
			return false;
	}
	answer.rule[q->right] =
		answer.rule[q->start == CORDON_START_PATH ? CORDON_CREATE : CORDON_UNIX_BIND];
	*ret_answer = answer;
	return true;
}

bool question_is_terminal(const struct policy_question *q)
{
	static const char directory[] = "/dev/pts/";
	size_t n = sizeof(directory) - 1;

	if (q->start != CORDON_START_PATH || q->size <= n || memcmp(q->bytes, directory, n) != 0)
		return false;
	while (n < q->size && q->bytes[n] >= '0' && q->bytes[n] <= '9')
		n++;
	return n == q->size;
}

/* By the rule that lets it make one. */
static bool is_own_terminal(const struct compiled_policy *policy,
			    const struct cordon_policy_header *header,
			    const struct policy_question *q, struct policy_answer *ret_answer)
{
	static char multiplexer[] = "/dev/ptmx";
	struct policy_question made = *q;
	struct policy_answer answer;

	if (!(header->flags & CORDON_POLICY_OWN_TERMINALS) || !question_is_terminal(q) ||
	    (q->right != CORDON_READ && q->right != CORDON_WRITE) ||
	    question_judge(policy, q, &answer) < 0 || !answer.missing ||
	    answer.verdict.deny & CORDON_RIGHT(q->right))
		return false;
	made.bytes = multiplexer;
	made.size = sizeof(multiplexer) - 1;
	made.path = (struct policy_path){.name = multiplexer, .size = sizeof(multiplexer) - 1};
	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		made.path.anchors[i] = POLICY_NO_ANCHOR;
	if (question_judge(policy, &made, &answer) < 0 || answer.missing)
		return false;
	*ret_answer = answer;
	return true;
}

bool question_allowed_if_own(const struct compiled_policy *policy, const struct policy_question *q,
			     struct policy_answer *ret_answer)
{
	struct policy_question own = *q;
	struct cordon_policy_header header;
	struct policy_answer answer;

	memcpy(&header, policy->tables, sizeof(header));
	if (q->right == CORDON_UNIX_CONNECT && question_judge(policy, q, &answer) == 0 &&
	    answer.missing && is_own_socket(policy, &header, q, ret_answer))
		return true;
	if (is_own_terminal(policy, &header, q, ret_answer))
		return true;
	if (!(header.flags & CORDON_POLICY_OWN_TEMPORARY) || q->start != CORDON_START_PATH ||
	    temporary_directory(q->bytes, q->size) == 0 ||
	    (q->path.link && is_directly_temporary(q->bytes, q->size)) ||
	    q->path.anchors[CORDON_ANCHOR_TMP] != POLICY_NO_ANCHOR ||
	    question_judge(policy, q, &answer) < 0 || !answer.missing)
		return false;
	own.path.anchors[CORDON_ANCHOR_TMP] = temporary_directory(q->bytes, q->size);
	if (question_judge(policy, &own, &answer) < 0 || answer.missing)
		return false;
	*ret_answer = answer;
	return true;
}
