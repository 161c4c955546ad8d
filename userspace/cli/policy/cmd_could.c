/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon could`: could an execution of the log have had an access at all? */
#include <string.h>

#include "audit/record/object.h"
#include "cli/term/commands.h"
#include "cli/log/find.h"
#include "cli/log/judge.h"
#include "cli/policy/could_all.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/story/denials.h"
#include "insight/text/view.h"
#include "policy/ask/host_judge.h"

static const char help[] =
	"usage: cordon could ID|last RIGHT OBJECT [--log DIR] [--json]\n"
	"       cordon could ID|last --all [--log DIR] [--json]\n"
	"\n"
	"Decides whether an execution could have had an access, by the compiled policy\n"
	"that it ran under, which is kept beside the log: the tables that the kernel ran,\n"
	"run once more. The answer names the rule, or is the proof that none of them\n"
	"grants it. RIGHT and OBJECT as `cordon policy explain` takes them; variables\n"
	"stand for what they stood for then.\n"
	"\n"
	"      --all            all that it could have done, rule by rule, the gravest\n"
	"                       first; names in it are examples, with directories in\n"
	"                       place of the variables\n"
	"      --json           the answer as JSON\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status 0: it could, 1: it could not, 2: there is no answer.\n";

struct could {
	const char *directory, *right, *object;
	json_t *records;
	const json_t *start;
	json_t *answers; /* one per policy */
	const json_t
		*resolve; /* the look-up by whose name the answer at hand is, borrowed; or NULL */
	bool possible;
};

static const json_t *find_start(const json_t *records)
{
	const json_t *record;
	size_t i;

	json_array_foreach(records, i, record)
		if (view_is(record, "execution-start"))
			return record;
	return NULL;
}

/* NULL: no memory. Caller frees. */
static char *make_proof(const struct could *c, const struct compiled_policy *p,
			const struct policy_answer *answer, bool denied, bool if_own, bool socket)
{
	char *proof = NULL;

	if (!answer->missing && c->resolve)
		return asprintf(&proof, "it stood for %s from %s to %s, and that name is allowed",
				view_text(c->resolve, "dns.question.name"),
				view_text(c->resolve, "@timestamp"),
				view_text(c->resolve, "cordon.resolution.until")) < 0
			       ? NULL
			       : proof;
	if (!answer->missing)
		return strdup(p->observe ? "the policy allows it"
					 : "the tables that were in force grant it");
	if (if_own && socket)
		return strdup("a socket that it had made there itself could be reached; others' "
			      "could not");
	if (if_own)
		return strdup("what it had made there itself was judged as if it lay in ${tmp}, "
			      "where it is allowed; what others made was not");
	if (answer->missing == CORDON_RIGHT(CORDON_NET_HOST))
		return strdup("it is an address of the host's own, as a refusal on record says, "
			      "and no rule names it");
	if (denied)
		return strdup("a rule denies it, and deny beats whatever allows it");
	if (answer->below)
		return strdup("a link there gives what it leads to names below its own, where "
			      "rules say what may be made");
	return asprintf(&proof,
			"no rule grants it: the automaton of all %zu rules (%u states) was run "
			"over the whole of the name, and ends where none of them allows this",
			p->rule_count, compiled_policy_states(p)) < 0
		       ? NULL
		       : proof;
}

static json_t *make_answer(struct could *c, const struct judge *judge,
			   const struct policy_question *question,
			   const struct policy_answer *answer)
{
	const struct compiled_policy *p = judge->policy;
	uint32_t decides = answer->rule[question->right];
	bool allowed = answer->missing == 0;
	bool denied = verdict_denied(&answer->verdict) & CORDON_RIGHT(question->right);
	struct policy_answer own;
	bool if_own = question_allowed_if_own(p, question, &own);
	_cleanup_(freep) char *smallest =
		allowed || denied || answer->below ? NULL : question_smallest_rule(p, question);
	_cleanup_(freep) char *proof =
		make_proof(c, p, answer, denied, if_own, question->right == CORDON_UNIX_CONNECT);

	/* A policy that only observes stops nothing. */
	c->possible |= allowed || if_own || p->observe;
	if (if_own)
		decides = own.rule[question->right];
	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:b, s:o, s:o, s:s?, s:s?, s:s, s:O?}",
			 "policy", p->name, "file", p->file, "digest", p->digest_text, "allowed",
			 allowed, "if_own", if_own, "observe", p->observe, "denied", denied, "rule",
			 judge_rule(judge, decides), "others",
			 judge_others(judge, question, decides), "proof", proof, "smallest_rule",
			 smallest, "section", question_section(question->right), "resolution",
			 c->resolve ? view_field(c->resolve, "dns") : NULL);
}

/* Is the address among those that a look-up gave? */
static bool has_address(const json_t *resolve, const char *address)
{
	const json_t *list = view_field(resolve, "dns.resolved_ip"), *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (strcmp(json_string_value(item), address) == 0)
			return true;
	return false;
}

/* An address of a connection's question; false: it is about something else. */
static bool read_address(const struct policy_question *q, char address[INET6_ADDRSTRLEN],
			 unsigned int *ret_port)
{
	const struct decoded_access access = {.object = (const unsigned char *)q->bytes};
	struct decoded_address decoded;

	if (q->start != CORDON_START_NET || q->right != CORDON_NET_CONNECT ||
	    !((q->size == 8 && access.object[0] == 4) || (q->size == 20 && access.object[0] == 6)))
		return false;
	decode_address(&access, &decoded);
	object_format_address(&decoded, address);
	*ret_port = decoded.port;
	return true;
}

/*
 * Where no rule speaks of an address, the kernel asks about the names that the execution was given
 * it for: the first look-up on record whose name is allowed replaces question and answer. 0 or
 * negative errno.
 */
static int ask_by_names(struct could *c, const struct judge *judge,
			struct policy_question *question, struct policy_answer *answer)
{
	int protocol = (int)strcspn(c->object, ":");
	char address[INET6_ADDRSTRLEN], error[QUESTION_ERROR_TEXT];
	json_t *record;
	unsigned int port;
	size_t i;

	if (!host_asks_names(answer) || !read_address(question, address, &port))
		return 0;
	json_array_foreach(c->records, i, record) {
		const char *name = view_text(record, "dns.question.name");
		_cleanup_(question_release) struct policy_question named = {0};
		_cleanup_(freep) char *object = NULL;
		struct policy_answer by_name;

		if (!name || !view_is(record, "resolve") || !has_address(record, address))
			continue;
		if (asprintf(&object, port ? "%.*s:%s:%u" : "%.*s:%s", protocol, c->object, name,
			     port) < 0)
			return -ENOMEM;
		if (question_read(judge->policy, c->right, object, judge->directories, &named,
				  error) < 0 ||
		    question_judge(judge->policy, &named, &by_name) < 0 || by_name.missing)
			continue;
		question_release(question);
		*question = named;
		named = (struct policy_question){0};
		*answer = by_name;
		c->resolve = record;
		return 0;
	}
	return 0;
}

/*
 * What an address of the host's own takes besides: which addresses were that is on record where
 * they were refused for it.
 */
static void ask_as_host(const struct could *c, const struct policy_question *question,
			struct policy_answer *answer)
{
	const uint32_t host = CORDON_RIGHT(CORDON_NET_HOST);
	char address[INET6_ADDRSTRLEN];
	unsigned int port;
	json_t *record;
	size_t i;

	if (answer->missing || (answer->verdict.allow & ~answer->verdict.deny & host) ||
	    !read_address(question, address, &port))
		return;
	json_array_foreach(c->records, i, record) {
		const char *reason = view_text(record, "cordon.reason");
		const char *ip = view_text(record, "destination.ip");

		if (reason && ip && strcmp(reason, "host") == 0 && strcmp(ip, address) == 0)
			answer->missing = host;
	}
}

static int ask(struct could *c, const char *digest)
{
	struct policy_question question;
	struct policy_answer answer;
	char error[QUESTION_ERROR_TEXT];
	struct judge judge;
	int r = judge_open(c->directory, digest, c->start, &judge);

	if (r < 0)
		return r;
	r = question_read(judge.policy, c->right, c->object, judge.directories, &question, error);
	if (r == -EINVAL)
		message("%s", error);
	if (r == 0) {
		c->resolve = NULL;
		r = question_judge(judge.policy, &question, &answer);
		if (r == 0)
			ask_as_host(c, &question, &answer);
		if (r == 0)
			r = ask_by_names(c, &judge, &question, &answer);
		if (r == 0)
			json_array_append_new(c->answers,
					      make_answer(c, &judge, &question, &answer));
		question_release(&question);
	}
	judge_close(&judge);
	return r;
}

/* Each policy that a record names: it may have been changed while the execution ran. */
/* Each policy that the execution was under. */
static int ask_all(struct could *c, int (*ask_one)(struct could *c, const char *digest))
{
	json_t *asked = json_object(), *record;
	int r = asked ? 0 : -ENOMEM;
	size_t i;

	json_array_foreach(c->records, i, record) {
		const char *digest = view_text(record, "cordon.policy.digest");

		if (r < 0 || !digest || json_object_get(asked, digest))
			continue;
		json_object_set_new(asked, digest, json_true());
		r = ask_one(c, digest);
	}
	json_decref(asked);
	return r;
}

/* Without the protocol, which records keep elsewhere. */
static const char *object_on_record(const char *object)
{
	static const char *const protocols[] = {"tcp:", "udp:", "icmp:", "abstract:"};

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (strncmp(object, protocols[i], strlen(protocols[i])) == 0)
			return object + strlen(protocols[i]);
	return object;
}

/* What the log says of this very object. */
static json_t *find_evidence(const struct could *c)
{
	const char *object = object_on_record(c->object);
	struct denial_groups groups = {0};
	json_t *evidence = json_array(), *record;
	size_t i, index;
	int is_new;

	json_array_foreach(c->records, i, record) {
		const char *text = view_text(record, "cordon.object.text");

		if (text && strcmp(text, object) == 0)
			(void)denial_groups_add(&groups, record, &index, &is_new);
	}
	for (i = 0; i < groups.count; i++) {
		_cleanup_(freep) char *phrase = denial_phrase(groups.items[i].first);

		json_array_append_new(
			evidence,
			json_pack("{s:I, s:s?, s:s?, s:I}", "seq",
				  (json_int_t)view_number(groups.items[i].first, "seq"), "action",
				  view_text(groups.items[i].first, "event.action"), "what", phrase,
				  "count", (json_int_t)groups.items[i].count));
	}
	denial_groups_free(&groups);
	return evidence;
}

static void print_rule(const struct style *style, const char *label, const json_t *rule)
{
	const char *file = view_text(rule, "file"), *text = view_text(rule, "text");

	printf("  %-9s ", label);
	style_text_in(stdout, style, STYLE_NAME, file ? file : "?", 0);
	printf(":%llu  ", (unsigned long long)view_number(rule, "line"));
	style_text(stdout, style, text ? text : "?");
	putchar('\n');
}

static void print_answer(const struct style *style, const json_t *answer)
{
	const json_t *rule = json_object_get(answer, "rule"), *other;
	const char *smallest = view_text(answer, "smallest_rule");
	size_t i;

	printf("  policy    ");
	style_text(stdout, style, view_text(answer, "policy"));
	printf(" (");
	style_text(stdout, style, view_text(answer, "file"));
	printf("), sha256 %.16s...: ", view_text(answer, "digest"));
	if (json_is_true(json_object_get(answer, "allowed")))
		style_text_in(stdout, style, STYLE_WARN, "allows it", 0);
	else if (json_is_true(json_object_get(answer, "if_own")))
		style_text_in(stdout, style, STYLE_WARN, "allows it of what it had made itself", 0);
	else if (json_is_true(json_object_get(answer, "observe")))
		style_text_in(stdout, style, STYLE_WARN, "does not allow it, but only observes", 0);
	else
		style_text_in(stdout, style, STYLE_GOOD, "does not allow it", 0);
	putchar('\n');
	if (json_is_object(rule))
		print_rule(style, "by", rule);
	json_array_foreach(json_object_get(answer, "others"), i, other)
		print_rule(style, "also", other);
	printf("  because   %s\n", view_text(answer, "proof"));
	if (smallest) {
		printf("  smallest  under %s: ", view_text(answer, "section"));
		style_text_in(stdout, style, STYLE_NAME, smallest, 0);
		putchar('\n');
	}
}

static void print_text(const struct could *c, const json_t *evidence)
{
	const char *id = view_text(c->start, "cordon.execution.id");
	struct style style = terminal_style(stdout);
	json_t *item;
	size_t i;

	style_text_in(stdout, &style, c->possible ? STYLE_WARN : STYLE_GOOD,
		      c->possible ? "It could" : "It could not", 0);
	printf(": %s ", c->right);
	style_text(stdout, &style, c->object);
	printf(", by execution %s\n", id ? id : "?");
	json_array_foreach(c->answers, i, item)
		print_answer(&style, item);
	json_array_foreach(evidence, i, item) {
		const char *what = view_text(item, "what");

		printf("  on record seq %llu: ", (unsigned long long)view_number(item, "seq"));
		style_text(stdout, &style, what ? what : "?");
		if (view_number(item, "count") > 1)
			printf(", %llu times", (unsigned long long)view_number(item, "count"));
		putchar('\n');
	}
	if (json_array_size(evidence) == 0)
		puts("  on record nothing of this object");
}

static int find_records_of(struct could *c, const char *word)
{
	int status = EXIT_FAILURE, r;

	r = find_execution(c->directory, word, NULL, &c->records, &status);
	if (r < 0)
		return r;
	c->start = find_start(c->records);
	if (c->start)
		return 0;
	message("the record of its start, which says what its variables stood for, is not in this log");
	return -ENODATA;
}

static int take_all(struct could *c, const char *digest)
{
	json_t *all = could_all(c->directory, digest, c->start);

	return all && json_array_append_new(c->answers, all) == 0 ? 0 : -EIO;
}

static int answer_all(struct could *c, const char *word, bool json)
{
	struct style style = terminal_style(stdout);
	const json_t *all;
	size_t i;

	if (find_records_of(c, word) < 0 || ask_all(c, take_all) < 0 ||
	    json_array_size(c->answers) == 0)
		return 2;
	if (json) {
		json_dumpf(c->answers, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		json_array_foreach(c->answers, i, all)
			could_all_print(&style, all);
	}
	return terminal_finish(stdout, 0);
}

static int answer(struct could *c, const char *word, bool json)
{
	json_t *evidence, *object;

	if (find_records_of(c, word) < 0)
		return 2;
	if (ask_all(c, ask) < 0 || json_array_size(c->answers) == 0)
		return 2;
	evidence = find_evidence(c);
	if (json) {
		object = json_pack("{s:O, s:s, s:s, s:b, s:O, s:O}", "execution",
				   view_field(c->start, "cordon.execution.id"), "right", c->right,
				   "object", c->object, "could", c->possible, "policies",
				   c->answers, "on_record", evidence);
		json_dumpf(object, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
		json_decref(object);
	} else {
		print_text(c, evidence);
	}
	json_decref(evidence);
	return terminal_finish(stdout, c->possible ? 0 : 1);
}

int cmd_could(int argc, char **argv)
{
	static const struct option options[] = {
		{"all", no_argument, NULL, 'a'},
		{"json", no_argument, NULL, 'j'},
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct could c = {.directory = DEFAULT_LOG_DIRECTORY};
	bool json = false, all = false;
	int option, status;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'a':
			all = true;
			break;
		case 'j':
			json = true;
			break;
		case 'l':
			c.directory = optarg;
			break;
		default:
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? EXIT_SUCCESS : 2;
		}
	}
	if (argc - optind != (all ? 1 : 3)) {
		message(all ? "name an execution, and nothing else"
			    : "name an execution, a right and an object");
		fputs(help, stderr);
		return 2;
	}
	c.answers = json_array();
	if (!all) {
		c.right = argv[optind + 1];
		c.object = argv[optind + 2];
	}
	status = all ? answer_all(&c, argv[optind], json) : answer(&c, argv[optind], json);
	json_decref(c.records);
	json_decref(c.answers);
	return status;
}
