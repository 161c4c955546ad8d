/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options by which commands choose records. */
#include "cli/log/query_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/record/names.h"
#include "cli/term/choose_word.h"
#include "cli/term/message.h"
#include "cli/term/moment.h"
#include "cli/term/terminal.h"

enum {
	OPTION_SINCE = QUERY_OPTION_FIRST,
	OPTION_UNTIL,
	OPTION_EXECUTION,
	OPTION_SESSION,
	OPTION_AGENT,
	OPTION_POLICY,
	OPTION_OPERATION,
	OPTION_ACTION,
	OPTION_VERDICT,
	OPTION_PATH,
	OPTION_ADDRESS,
	OPTION_TEXT,
	OPTION_LINES,
	OPTION_NO_INDEX,
	OPTION_LOG,
};

const struct option query_options_table[QUERY_OPTIONS_COUNT] = {
	{"since", required_argument, NULL, OPTION_SINCE},
	{"until", required_argument, NULL, OPTION_UNTIL},
	{"execution", required_argument, NULL, OPTION_EXECUTION},
	{"session", required_argument, NULL, OPTION_SESSION},
	{"agent", required_argument, NULL, OPTION_AGENT},
	{"policy", required_argument, NULL, OPTION_POLICY},
	{"operation", required_argument, NULL, OPTION_OPERATION},
	{"action", required_argument, NULL, OPTION_ACTION},
	{"verdict", required_argument, NULL, OPTION_VERDICT},
	{"path", required_argument, NULL, OPTION_PATH},
	{"address", required_argument, NULL, OPTION_ADDRESS},
	{"text", required_argument, NULL, OPTION_TEXT},
	{"lines", required_argument, NULL, OPTION_LINES},
	{"no-index", no_argument, NULL, OPTION_NO_INDEX},
	{"log", required_argument, NULL, OPTION_LOG},
};

const char query_options_help[] =
	"Which records; all that is given must hold:\n"
	"      --since T, --until T  2026-11-22T03:11:00Z, 2026-11-22 03:11, 03:11,\n"
	"                            today, yesterday, or 90s, 30m, 2h, 7d ago\n"
	"      --execution ID        of this execution, by the beginning or end of its id\n"
	"      --session S, --agent A\n"
	"      --policy P            its name, or how the digest of its tables begins\n"
	"      --operation OP        open, unlink, exec, connect, signal, ...\n"
	"      --action A            event.action: denial, process-exec, execution-start,\n"
	"                            ...\n"
	"      --verdict V           denied, would-deny or allowed\n"
	"      --path GLOB           of a file, socket or program: *, **, ?, [a-z],\n"
	"                            {a,b}; without a '/', the last component\n"
	"      --address A           203.0.113.7, 203.0.113.0/24, [2001:db8::1]:443\n"
	"      --text WORDS          stands in any text of the record\n"
	"      --lines N             only the last N of them\n"
	"      --no-index            read all of the log\n";

const char query_options_log_help[] =
	"      --log DIR             the log's directory (/var/log/cordon)\n";

void query_options_init(struct query_options *options)
{
	*options = (struct query_options){.directory = DEFAULT_LOG_DIRECTORY};
}

void query_options_release(struct query_options *options)
{
	if (options->path)
		audit_glob_free(options->path);
}

static int take_moment(const char *option, const char *value, char moment[CLOCK_TEXT_SIZE],
		       const char **ret)
{
	if (moment_parse(value, clock_nsec(CLOCK_REALTIME), moment) < 0) {
		message("--%s takes a time like 2026-11-22T03:11:00Z, \"2026-11-22 03:11\", 03:11, "
			"today, yesterday, now or 2h, not \"%s\"",
			option, value);
		return -EINVAL;
	}
	*ret = moment;
	return 0;
}

/* Ids are compared as they are written: lower case. */
static int take_execution(struct query_options *o, const char *value)
{
	size_t length = strlen(value);

	if (length == 0 || length >= sizeof(o->execution) ||
	    strspn(value, "0123456789abcdefABCDEF-") != length) {
		message("--execution takes an id, or how it begins, not \"%s\"", value);
		return -EINVAL;
	}
	for (size_t i = 0; i <= length; i++)
		o->execution[i] = (char)tolower((unsigned char)value[i]);
	o->query.execution = o->execution;
	return 0;
}

static int take_verdict(struct query_options *o, const char *value)
{
	static const char *const words[] = {"denied", "would-deny", "allowed"};
	static const enum audit_verdict verdicts[] = {
		AUDIT_VERDICT_DENIED,
		AUDIT_VERDICT_WOULD_DENY,
		AUDIT_VERDICT_ALLOWED,
	};
	int r = choose_word("--verdict", value, words, ARRAY_SIZE(words));

	if (r < 0)
		return r;
	o->query.verdict = verdicts[r];
	return 0;
}

/* Those of the daemon itself are agent-*, of which newer hosts may have more. */
static int take_action(struct query_options *o, const char *value)
{
	static const char *const words[] = {
		"execution-start", "execution-end", "execution-refused", "process-exec",
		"process-exit",	   "denial",	    "would-deny",	 "open",
		"change",	   "connect",	    "resolve",		 "gap",
		"policy-change",   "approval",	    "identity",		 "seal",
		"retention",	   "agent-start",   "agent-stop",	 "segment-compressed",
		"traffic",	   "attempt",
	};
	int r = strncmp(value, "agent-", strlen("agent-")) == 0
			? 0
			: choose_word("--action", value, words, ARRAY_SIZE(words));

	if (r < 0)
		return r;
	o->query.action = value;
	return 0;
}

static int take_operation(struct query_options *o, const char *value)
{
	const char *words[CORDON_OP_COUNT];
	int r;

	for (uint32_t i = CORDON_OP_NONE + 1; i < CORDON_OP_COUNT; i++)
		words[i - 1] = name_of_operation(i);
	r = choose_word("--operation", value, words, CORDON_OP_COUNT - 1);
	if (r < 0)
		return r;
	o->query.operation = value;
	return 0;
}

static int take_path(struct query_options *o, const char *value)
{
	struct audit_glob *path;
	int r = audit_glob_new(value, &path);

	if (r < 0) {
		message("--path: %s: %s", value,
			r == -EINVAL  ? "a bracket or brace is not closed, or braces lie in braces"
			: r == -E2BIG ? "too many alternatives"
				      : "out of memory");
		return -EINVAL;
	}
	if (o->path)
		audit_glob_free(o->path);
	o->path = path;
	o->query.path = path;
	return 0;
}

static int take_address(struct query_options *o, const char *value)
{
	if (audit_network_parse(value, &o->address) < 0) {
		message("--address takes an address or a network, like 203.0.113.7, "
			"203.0.113.0/24 or [2001:db8::1]:443, not \"%s\"",
			value);
		return -EINVAL;
	}
	o->query.address = &o->address;
	return 0;
}

static int take_lines(struct query_options *o, const char *value)
{
	unsigned long lines;
	char *end;

	errno = 0;
	lines = strtoul(value, &end, 10);
	if (value[0] < '1' || value[0] > '9' || *end || errno || lines > 1000000) {
		message("--lines takes a number from 1 to 1000000, not \"%s\"", value);
		return -EINVAL;
	}
	o->search.limit = lines;
	return 0;
}

int query_options_take(struct query_options *o, int option, const char *value)
{
	switch (option) {
	case OPTION_SINCE:
		return take_moment("since", value, o->since, &o->query.since);
	case OPTION_UNTIL:
		return take_moment("until", value, o->until, &o->query.until);
	case OPTION_EXECUTION:
		return take_execution(o, value);
	case OPTION_SESSION:
		o->query.session = value;
		return 0;
	case OPTION_AGENT:
		o->query.agent = value;
		return 0;
	case OPTION_POLICY:
		o->query.policy = value;
		return 0;
	case OPTION_OPERATION:
		return take_operation(o, value);
	case OPTION_ACTION:
		return take_action(o, value);
	case OPTION_VERDICT:
		return take_verdict(o, value);
	case OPTION_PATH:
		return take_path(o, value);
	case OPTION_ADDRESS:
		return take_address(o, value);
	case OPTION_TEXT:
		o->query.text = value;
		return 0;
	case OPTION_LINES:
		return take_lines(o, value);
	case OPTION_NO_INDEX:
		o->search.no_index = true;
		return 0;
	case OPTION_LOG:
		o->directory = value;
		return 0;
	default:
		return -ENOENT;
	}
}
