/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy explain`: why an access is allowed or refused. */
#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "audit/record/names.h"
#include "audit/storage/policy_store.h"
#include "cli/term/message.h"
#include "cli/policy/policy_command.h"
#include "cli/log/recorded.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/recording/replay.h"
#include "insight/text/view.h"
#include "policy/ask/match.h"
#include "policy/ask/question.h"
#include "policy/source/units.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy explain [OPTION]... POLICY RIGHT OBJECT\n"
	      "       cordon policy explain [OPTION]... --record NUMBER\n"
	      "\n"
	      "Says whether POLICY allows an access, which rule decides, which other rules\n"
	      "match, and the smallest rule that would allow it. Nothing is opened or\n"
	      "connected: OBJECT is a resolved name, as it stands in a denial's record. With\n"
	      "--record the access is that of a record of the log and the policy the one that\n"
	      "decided it, which is kept beside the log if its file has changed.\n"
	      "\n"
	      "  read|list|write|create|delete /PATH       run|map /PATH, @anonymous or @memfd\n"
	      "  connect|bind|listen [tcp:|udp:|icmp:]ADDRESS:PORT\n"
	      "  connect|bind abstract:NAME, connect /SOCKET\n"
	      "  socket FAMILY/TYPE/PROTOCOL\n"
	      "\n"
	      "  --workdir DIR, --tmp DIR, --home DIR, --bind NAME=DIR\n"
	      "             what the policy's variables stand for; OBJECT may also start with\n"
	      "             one, as in '${workdir}/x'\n"
	      "  --record NUMBER  the record's number in the log (seq)\n"
	      "  --log DIR        the log's directory (/var/log/cordon)\n"
	      "  --json           one JSON object for each right, for programs\n"
	      "\n"
	      "Exit status 0: allowed, 1: refused, 2: the question or the policy is wrong.\n",
	      out);
}

struct explanation {
	const struct compiled_policy *policy;
	const struct diagnostics *diagnostics; /* of its file on this host, or NULL */
	struct policy_question question;
	struct policy_answer answer;
	struct policy_matches matches;
	char *rule; /* the smallest that would allow it */
};

static void explanation_release(struct explanation *e)
{
	question_release(&e->question);
	policy_matches_release(&e->matches);
	free(e->rule);
}

struct bindings {
	const char *names[CORDON_MAX_ANCHORS]; /* not terminated: of `sizes` bytes */
	size_t sizes[CORDON_MAX_ANCHORS];
	const char *directories[CORDON_MAX_ANCHORS];
	size_t count;
};

static int add_binding(struct bindings *b, const char *name, size_t size, const char *directory)
{
	if (b->count == CORDON_MAX_ANCHORS) {
		message("more than %u variables", CORDON_MAX_ANCHORS);
		return -EINVAL;
	}
	if (*directory != '/') {
		message("%.*s must be an absolute path: %s", (int)size, name, directory);
		return -EINVAL;
	}
	b->names[b->count] = name;
	b->sizes[b->count] = size;
	b->directories[b->count++] = directory;
	return 0;
}

static int split_binding(struct bindings *b, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals) {
		message("write --bind NAME=DIR");
		return -EINVAL;
	}
	return add_binding(b, text, (size_t)(equals - text), equals + 1);
}

static bool is_named(const char *name, const struct bindings *b, size_t number)
{
	return name && strlen(name) == b->sizes[number] &&
	       memcmp(name, b->names[number], b->sizes[number]) == 0;
}

static int resolve_bindings(const struct compiled_policy *p, const struct bindings *b,
			    const char *directories[CORDON_MAX_ANCHORS])
{
	for (size_t i = 0; i < b->count; i++) {
		bool found = false;

		for (size_t n = 0; n < CORDON_MAX_ANCHORS; n++) {
			if (!is_named(p->anchor_names[n], b, i))
				continue;
			directories[n] = b->directories[i];
			found = true;
		}
		if (!found) {
			message("%s has no variable \"%.*s\"", p->name, (int)b->sizes[i],
				b->names[i]);
			return -EINVAL;
		}
	}
	return 0;
}

static json_t *describe_rule(const struct compiled_policy *p, uint32_t number)
{
	if (number >= p->rule_count)
		return json_null();
	return json_pack("{s:i, s:s, s:i, s:s}", "number", (int)number, "file",
			 p->rules[number].file, "line", (int)p->rules[number].line, "text",
			 p->rules[number].text);
}

/* Allowed by a rule that does not name the address: not where it is the host's own. */
static bool is_but_for_host(const struct explanation *e)
{
	return e->question.start == CORDON_START_NET && e->question.right == CORDON_NET_CONNECT &&
	       e->answer.missing == 0 &&
	       !(e->answer.verdict.allow & ~e->answer.verdict.deny & CORDON_RIGHT(CORDON_NET_HOST));
}

/* By which rule, of what the execution has made itself. */
static bool is_allowed_if_own(const struct explanation *e, uint32_t *ret_rule)
{
	struct policy_answer answer;

	if (!question_allowed_if_own(e->policy, &e->question, &answer))
		return false;
	*ret_rule = answer.rule[e->question.right];
	return *ret_rule < e->policy->rule_count;
}

static const char *made_itself(const struct policy_question *q)
{
	if (q->right == CORDON_UNIX_CONNECT)
		return "to a socket that the execution has made itself";
	if (question_is_terminal(q))
		return "to a terminal that the execution has made itself";
	return "of what the execution has made itself, as in ${tmp}";
}

/* What `cordon policy check` warns of: rules that cannot be what decides. */
static const struct diagnostic *warning_at(const struct explanation *e, size_t index)
{
	const struct diagnostic *d = diagnostics_at(e->diagnostics, index);

	return d->severity == DIAGNOSTIC_WARNING ? d : NULL;
}

static size_t count_said(const struct explanation *e)
{
	return e->diagnostics ? diagnostics_count(e->diagnostics) : 0;
}

static void print_warnings(const struct explanation *e)
{
	for (size_t i = 0; i < count_said(e); i++) {
		const struct diagnostic *d = warning_at(e, i);

		if (d)
			printf("  %-8s %s:%u: %s%s%s\n", "warning", d->file, d->line, d->message,
			       d->hint ? "; " : "", d->hint ? d->hint : "");
	}
}

static json_t *warnings_json(const struct explanation *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count_said(e); i++) {
		const struct diagnostic *d = warning_at(e, i);

		if (d)
			json_array_append_new(list,
					      json_pack("{s:s, s:i, s:s, s:s?}", "file", d->file,
							"line", (int)d->line, "message", d->message,
							"fix", d->hint));
	}
	return list;
}

static int print_json(const struct explanation *e, const char *right, const char *object)
{
	const struct compiled_policy *p = e->policy;
	uint32_t decides = e->answer.rule[e->question.right], own;
	json_t *others = json_array(), *o;
	int r;

	for (size_t i = 0; i < e->matches.count; i++)
		if (e->matches.list[i].rule != decides && e->matches.list[i].rule < p->rule_count)
			json_array_append_new(others, describe_rule(p, e->matches.list[i].rule));
	o = json_pack("{s:s, s:s, s:s, s:b, s:o, s:o}", "policy", p->name, "right", right, "object",
		      object, "allowed", e->answer.missing == 0, "rule", describe_rule(p, decides),
		      "others", others);
	if (o && e->rule) {
		json_object_set_new(o, "section", json_string(question_section(e->question.right)));
		json_object_set_new(o, "smallest_rule", json_string(e->rule));
	}
	if (o && is_but_for_host(e))
		json_object_set_new(o, "host", json_false());
	if (o && is_allowed_if_own(e, &own))
		json_object_set_new(o, "if_own", describe_rule(p, own));
	if (o && e->answer.below)
		json_object_set_new(o, "below", json_true());
	if (o && e->diagnostics)
		json_object_set_new(o, "warnings", warnings_json(e));
	r = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;
	putchar('\n');
	json_decref(o);
	return r == 0 ? 0 : -ENOMEM;
}

static void print_rule(const struct compiled_policy *p, const char *what, uint32_t number)
{
	const struct policy_rule *rule = &p->rules[number];

	printf("  %-8s %s:%u: %s\n", what, rule->file, rule->line, rule->text);
}

static void print_text(const struct explanation *e, const char *right, const char *object)
{
	const struct compiled_policy *p = e->policy;
	uint32_t decides = e->answer.rule[e->question.right], own;
	bool allowed = e->answer.missing == 0;
	bool denied = verdict_denied(&e->answer.verdict) & CORDON_RIGHT(e->question.right);

	printf("%s: %s %s: %s%s\n", p->name, right, object, allowed ? "allowed" : "refused",
	       p->observe && !allowed ? " (observe mode: on record only)" : "");
	if (decides < p->rule_count)
		print_rule(p, "by", decides);
	else
		printf("  %-8s %s\n", "by",
		       allowed		 ? "what is built in"
		       : e->answer.below ? "what it brings: names below its own, where rules say "
					   "what may be made"
					 : "no rule: nothing allows it");
	for (size_t i = 0; i < e->matches.count; i++)
		if (e->matches.list[i].rule != decides && e->matches.list[i].rule < p->rule_count)
			print_rule(p, "also", e->matches.list[i].rule);
	if (is_allowed_if_own(e, &own)) {
		printf("  %-8s allowed %s\n", "but", made_itself(&e->question));
		print_rule(p, "by", own);
	}
	if (e->rule)
		printf("  %-8s under %s: %s\n", "smallest", question_section(e->question.right),
		       e->rule);
	if (is_but_for_host(e))
		printf("  %-8s not if it is the host's own address: that takes a rule with this very "
		       "address\n",
		       "but");
	if (denied)
		printf("  %-8s a deny wins over every allow: narrow it first\n", "but");
	print_warnings(e);
}

/* A name that leads through a symbolic link here is none that a record would have. */
static void tell_of_link(const char *object)
{
	char resolved[PATH_MAX];
	size_t length = strlen(object);

	if (object[0] != '/' || strncmp(object, "/proc/", 6) == 0 || !realpath(object, resolved) ||
	    strcmp(object, resolved) == 0 ||
	    (object[length - 1] == '/' && strlen(resolved) == length - 1 &&
	     memcmp(object, resolved, length - 1) == 0))
		return;
	message("on this host, %s leads through a symbolic link to %s: ask about that name", object,
		resolved);
}

/*
 * Asks and prints, with the question in place. `name`: NULL where the policy is not as its file
 * says, so that what else matches is not known. 0: allowed, 1: refused, 2: no answer, which was
 * said.
 */
static int explain_question(struct explanation *e, const char *name,
			    const struct policy_search *search, const char *right,
			    const char *object, bool json)
{
	int r = question_judge(e->policy, &e->question, &e->answer);

	if (r == 0 && name)
		r = policy_find_matches(name, search, &e->question, &e->matches);
	if (r == 0 && e->answer.missing && !e->answer.below) {
		e->rule = question_smallest_rule(e->policy, &e->question);
		r = e->rule ? 0 : -ENOMEM;
	}
	if (r == 0 && json)
		r = print_json(e, right, object);
	else if (r == 0)
		print_text(e, right, object);
	if (r < 0)
		message("cannot explain %s: %s", e->policy->name, strerror(-r));
	return r < 0 ? 2 : e->answer.missing != 0;
}

static int explain(const char *name, const struct policy_search *search, const struct bindings *b,
		   const char *right, const char *object, bool json)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(explanation_release) struct explanation e = {.diagnostics = d};
	const char *directories[CORDON_MAX_ANCHORS] = {0};
	char error[QUESTION_ERROR_TEXT];
	int r;

	if (!d || policy_command_load_here(name, search, d, &p) < 0 ||
	    resolve_bindings(p, b, directories) < 0)
		return 2;
	e.policy = p;
	r = question_read(p, right, object, directories, &e.question, error);
	if (r < 0) {
		message("%s", r == -EINVAL ? error : strerror(-r));
		return 2;
	}
	tell_of_link(object);
	return explain_question(&e, name, search, right, object, json);
}

/* --- from a record -------------------------------------------------------------------------- */

struct decider {
	const struct policy_search *search;
	const struct recorded_run *run;
	struct compiled_policy *policy;
	const char *name; /* its file, as long as that says the same; else NULL */
};

static void decider_release(struct decider *d)
{
	if (d->policy)
		compiled_policy_free(d->policy);
}

static int compile_decider(struct decider *d)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	_cleanup_(diagnostics_freep) struct diagnostics *ignored = diagnostics_new();
	const char *file = d->run->policy_file;
	int r = ignored ? 0 : -ENOMEM;

	if (r == 0)
		r = *file ? policy_check_written(file, d->search, ignored, NULL, &p) : -ENOENT;
	if (r == 0 && d->run->observed && !p->observe)
		r = compiled_policy_observe(p);
	if (r < 0 || strcmp(p->digest_text, d->run->policy_digest) != 0)
		return r < 0 ? r : -ESTALE;
	d->policy = TAKE_PTR(p);
	d->name = file;
	return 0;
}

/* The policy that decided, from its file or, if that says something else, from beside the log. */
static int find_decider(struct decider *d, const char *directory, uint64_t number)
{
	struct failure failure = {0};
	int r = compile_decider(d);

	if (r == 0 || r == -ENOMEM)
		return r;
	r = policy_store_get(directory, d->run->policy_digest, &d->policy, &failure);
	if (r == 0) {
		message("the file of %s says something else by now; this is the policy that "
			"decided, as it is kept beside the log",
			d->run->policy);
		return 0;
	}
	message("the policy %s that decided record %llu cannot be had: its file says something else "
		"by now, and none with the digest %s is kept beside the log; the record itself "
		"names the rule",
		d->run->policy, (unsigned long long)number, d->run->policy_digest);
	return r;
}

/* What a word of the section `process` decides, or no policy at all. */
static int explain_setting(const struct compiled_policy *p, const struct recorded_access *a,
			   const struct replay_answer *answer, bool json)
{
	const char *by = !answer->decided ? "no policy decides this" : "section process";
	json_t *o;
	int r = 0;

	if (json) {
		o = json_pack("{s:s, s:s, s:s, s:b, s:s}", "policy", p->name, "right",
			      name_of_operation(a->operation), "object", a->text, "allowed",
			      answer->allowed, "by", by);
		r = o ? json_dumpf(o, stdout, JSON_COMPACT) : -1;
		putchar('\n');
		json_decref(o);
	} else {
		printf("%s: %s %s: %s\n  %-8s %s\n", p->name, name_of_operation(a->operation),
		       a->text, answer->allowed ? "allowed" : "refused", "by", by);
	}
	return r < 0 ? 2 : !answer->allowed;
}

/* "list" where a directory was to be listed, "symlink" where a symbolic link was made. */
static const char *right_word(const struct recorded_access *a, unsigned int right)
{
	if (right == CORDON_CREATE && a->operation == CORDON_OP_SYMLINK)
		return "symlink";
	return right == CORDON_READ && a->listing ? "list" : question_right_name(right);
}

static int explain_access(const struct decider *d, const struct recorded_access *a, bool json)
{
	const struct compiled_policy *p = d->policy;
	const struct recorded_run *run = d->run;
	struct replay_answer answer;
	uint32_t rights;
	int status = 0, one;

	if (replay_judge(p, run, a, &answer) < 0)
		return 2;
	if (!answer.decided || a->kind >= ACCESS_CAPABILITY)
		return explain_setting(p, a, &answer, json);
	rights = a->reason == CORDON_REASON_HOST ? CORDON_RIGHT(CORDON_NET_HOST) : answer.asked;
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		_cleanup_(explanation_release) struct explanation e = {.policy = p};
		_cleanup_(freep) char *object = NULL;
		const char *asked;

		if (!(rights & CORDON_RIGHT(right)))
			continue;
		replay_question(p, run, a, right, &e.question);
		asked = e.question.bytes;
		/* Of its own, to be released with it. */
		e.question.bytes = malloc(e.question.size + 1);
		if (!e.question.bytes)
			return 2;
		memcpy(e.question.bytes, asked, e.question.size);
		e.question.bytes[e.question.size] = '\0';
		e.question.path.name = e.question.bytes;
		/* An address that was asked about by the name that it stood for. */
		object = asked == a->named ? question_format(e.question.start, asked, a->named_size)
					   : strdup(a->text);
		if (!object)
			return 2;
		one = explain_question(&e, d->name, d->search, right_word(a, right), object, json);
		status = one > status ? one : status;
	}
	return status;
}

/* What was to be done is not known: the first right that the rule on record denies. */
static int explain_attempt(const struct decider *d, const json_t *record, bool json)
{
	static const char *const rights[] = {"read", "list", "write", "create", "delete", "run"};
	const char *object = view_text(record, "cordon.object.text");
	const char *directories[CORDON_MAX_ANCHORS];

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		directories[i] = d->policy->anchor_names[i]
					 ? recorded_directory(d->run, d->policy->anchor_names[i])
					 : NULL;
	for (size_t i = 0; object && i < ARRAY_SIZE(rights); i++) {
		_cleanup_(explanation_release) struct explanation e = {.policy = d->policy};
		char error[QUESTION_ERROR_TEXT];
		struct policy_answer answer;

		if (question_read(d->policy, rights[i], object, directories, &e.question, error) <
			    0 ||
		    question_judge(d->policy, &e.question, &answer) < 0)
			return 2;
		if (answer.rule[e.question.right] != view_number(record, "cordon.rule.number"))
			continue;
		if (!json)
			printf("lookup %s: denied by the host's own permissions, before any rule; "
			       "it is on record since a rule marks it:\n",
			       object);
		return explain_question(&e, d->name, d->search, rights[i], object, json);
	}
	message("the policy does not mark %s", object ? object : "what is on record");
	return 2;
}

static int explain_found(const struct decider *d, const json_t *record,
			 const struct recorded_access *accesses, size_t count, bool json)
{
	if (view_is(record, "attempt"))
		return explain_attempt(d, record, json);
	return count > 0 ? explain_access(d, &accesses[0], json) : 2;
}

static const struct recorded_run *find_run(const struct recorded_run *runs, size_t count,
					   const json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");

	for (size_t i = 0; i < count; i++)
		if (id && strcmp(runs[i].id, id) == 0)
			return &runs[i];
	return &runs[0];
}

static int explain_record(const struct policy_search *search, const char *directory,
			  const char *text, bool json)
{
	_cleanup_(recording_freep) struct recording *recording = NULL;
	_cleanup_(decider_release) struct decider decider = {.search = search};
	_cleanup_(json_decrefp) json_t *record = NULL;
	const struct recorded_access *accesses;
	const struct recorded_run *runs;
	size_t count, run_count;
	uint64_t number;

	if (units_number(text, &number) < 0) {
		message("\"%s\" is no number of a record", text);
		return 2;
	}
	if (recorded_find(directory, number, &record, &recording) < 0)
		return 2;
	runs = recording_runs(recording, &run_count);
	accesses = recording_accesses(recording, &count);
	if (run_count == 0 || (count == 0 && !view_is(record, "attempt"))) {
		message("record %llu is of no access", (unsigned long long)number);
		return 2;
	}
	decider.run = find_run(runs, run_count, record);
	if (find_decider(&decider, directory, number) < 0)
		return 2;
	return explain_found(&decider, record, accesses, count, json);
}

int policy_command_explain(const struct policy_search *search, int argc, char **argv)
{
	static const struct option options[] = {
		{"workdir", required_argument, NULL, 'w'},
		{"tmp", required_argument, NULL, 't'},
		{"home", required_argument, NULL, 'o'},
		{"bind", required_argument, NULL, 'b'},
		{"record", required_argument, NULL, 'r'},
		{"log", required_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	const char *record = NULL, *directory = DEFAULT_LOG_DIRECTORY;
	struct bindings b = {0};
	bool json = false;
	int option, r = 0;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'w':
			r = add_binding(&b, "workdir", strlen("workdir"), optarg);
			break;
		case 't':
			r = add_binding(&b, "tmp", strlen("tmp"), optarg);
			break;
		case 'o':
			r = add_binding(&b, "home", strlen("home"), optarg);
			break;
		case 'b':
			r = split_binding(&b, optarg);
			break;
		case 'r':
			record = optarg;
			break;
		case 'l':
			directory = optarg;
			break;
		case 'j':
			json = true;
			break;
		default:
			print_help(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
		if (r < 0)
			return 2;
	}
	if (record && argc == optind && b.count == 0)
		return policy_command_finish(explain_record(search, directory, record, json));
	if (record) {
		message("--record stands alone: the record says which policy, right and object");
		return 2;
	}
	if (argc - optind != 3) {
		message("name a policy, a right and an object");
		print_help(stderr);
		return 2;
	}
	r = explain(argv[optind], search, &b, argv[optind + 1], argv[optind + 2], json);
	return policy_command_finish(r);
}
