/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates both policies for probe accesses that each represent one dangerous capability. */
#include "policy/ask/alarm.h"

#include <string.h>

#include "policy/ask/match.h"
#include "policy/ask/question.h"
#include "policy/automaton/nfa.h"
#include "policy/core/vector.h"

/* `too`: another access that the same rule must also allow, or NULL. */
struct probe {
	enum alarm_kind kind;
	const char *text, *right, *object, *too;
};

static const struct probe probes[] = {
	{ALARM_CREDENTIALS, "read credentials", "read", "/root/.ssh/id_rsa", NULL},
	{ALARM_CREDENTIALS, "read credentials", "read", "/home/user/.ssh/id_rsa", NULL},
	{ALARM_CREDENTIALS, "read credentials", "read", "/home/user/.aws/credentials", NULL},
	{ALARM_CREDENTIALS, "read credentials", "read", "/home/user/.netrc", NULL},
	{ALARM_CREDENTIALS, "read credentials", "read", "/etc/shadow", NULL},
	{ALARM_PERSISTENCE, "change files that other programs load or run", "write",
	 "/root/.ssh/authorized_keys", NULL},
	{ALARM_PERSISTENCE, "change files that other programs load or run", "write",
	 "/home/user/.ssh/authorized_keys", NULL},
	{ALARM_PERSISTENCE, "change files that other programs load or run", "write",
	 "/home/user/.bashrc", NULL},
	{ALARM_PERSISTENCE, "change files that other programs load or run", "write",
	 "/etc/cron.d/job", NULL},
	{ALARM_PERSISTENCE, "change files that other programs load or run", "write",
	 "/etc/systemd/system/job.service", NULL},
	{ALARM_PERSISTENCE, "change files that other programs load or run", "write",
	 "/usr/local/bin/job", NULL},
	{ALARM_ANYWHERE, "connect anywhere, at any port", "connect", "tcp:198.51.100.1:443",
	 "tcp:203.0.113.77:31337"},
	{ALARM_ANYWHERE, "connect anywhere, at any port", "connect", "tcp:[2001:db8::1]:443",
	 "tcp:[2a0e::77]:31337"},
	{ALARM_PROGRAMS, "run any program", "run", "/any/program", "/home/user/any-program"},
	{ALARM_PROGRAMS, "run code that it makes", "run", "@memfd", NULL},
};

/*
 * Addresses and one name far apart: a rule that allows both addresses of a pair allows all
 * addresses.
 */
static const char *const far_apart[][2] = {
	{"198.51.100.1", "203.0.113.77"},
	{"[2001:db8::1]", "[2a0e::77]"},
	{"any.example.org", "some-other.example"},
};

enum kind { KIND_OLD, KIND_NEW, KIND_NAME };

/* The verdicts of both policies for one access. */
struct answer {
	const char *right;
	char *object;
	bool before, after; /* allowed by the first policy, by the second one */
	struct policy_matches matches;
	uint16_t decides; /* the deciding rule of the second policy */
};

struct alarms {
	const struct compiled_policy *a, *b;
	struct nfa *rules; /* rules of the second policy, or NULL */
	struct answer *answers;
	size_t count, capacity;
};

int alarms_new(const struct compiled_policy *a, const struct compiled_policy *b,
	       const struct policy_written *written, struct alarms **ret_alarms)
{
	_cleanup_(alarms_freep) struct alarms *alarms = calloc(1, sizeof(*alarms));
	int r;

	if (!alarms)
		return -ENOMEM;
	alarms->a = a;
	alarms->b = b;
	r = written ? policy_written_rules(written, &alarms->rules) : 0;
	if (r < 0)
		return r;
	*ret_alarms = TAKE_PTR(alarms);
	return 0;
}

void alarms_free(struct alarms *alarms)
{
	for (size_t i = 0; i < alarms->count; i++) {
		free(alarms->answers[i].object);
		policy_matches_release(&alarms->answers[i].matches);
	}
	free(alarms->answers);
	if (alarms->rules)
		nfa_free(alarms->rules);
	free(alarms);
}

/* ---- verdicts of probes ---- */

/* -EINVAL: the policy has no such access. */
static int judge(const struct compiled_policy *p, const struct answer *about,
		 struct policy_question *q, struct policy_answer *ret_answer)
{
	const char *unbound[CORDON_MAX_ANCHORS] = {};
	char error[QUESTION_ERROR_TEXT];
	int r = question_read(p, about->right, about->object, unbound, q, error);

	return r < 0 ? r : question_judge(p, q, ret_answer);
}

static int ask(const struct alarms *alarms, struct answer *about)
{
	struct policy_question before = {}, after = {};
	struct policy_answer said;
	int r = judge(alarms->a, about, &before, &said);

	about->before = r == 0 && said.missing == 0;
	if (r == 0)
		r = judge(alarms->b, about, &after, &said);
	about->after = r == 0 && said.missing == 0;
	if (about->after) {
		about->decides = said.rule[after.right];
		if (alarms->rules)
			r = policy_match_rules(alarms->rules, &after, &about->matches);
	}
	question_release(&before);
	question_release(&after);
	return r == -ENOMEM ? r : 0;
}

/* Each access is evaluated once, however many rules there are. */
static int answer_of(struct alarms *alarms, const char *right, const char *object,
		     size_t *ret_number)
{
	struct answer fresh = {.right = right};
	int r;

	for (size_t i = 0; i < alarms->count; i++)
		if (strcmp(alarms->answers[i].object, object) == 0 &&
		    strcmp(alarms->answers[i].right, right) == 0) {
			*ret_number = i;
			return 0;
		}
	if (vector_reserve(&alarms->answers, &alarms->capacity, alarms->count + 1) < 0)
		return -ENOMEM;
	fresh.object = strdup(object);
	r = fresh.object ? ask(alarms, &fresh) : -ENOMEM;
	if (r < 0) {
		free(fresh.object);
		return r;
	}
	alarms->answers[alarms->count] = fresh;
	*ret_number = alarms->count++;
	return 0;
}

static bool is_by(const struct answer *answer, uint16_t rule)
{
	if (!answer->after || answer->decides == rule)
		return answer->after;
	for (size_t i = 0; i < answer->matches.count; i++)
		if (answer->matches.list[i].rule == rule && !answer->matches.list[i].deny)
			return true;
	return false;
}

/* 1: `rule` allows the access of the probe, and the first policy does not. */
static int shows(struct alarms *alarms, const struct probe *probe, uint16_t rule,
		 size_t *ret_number)
{
	size_t one = 0, other = 0;
	int r = answer_of(alarms, probe->right, probe->object, &one);

	if (r == 0)
		r = answer_of(alarms, probe->right, probe->too ? probe->too : probe->object,
			      &other);
	if (r < 0)
		return r;
	*ret_number = one;
	return is_by(&alarms->answers[one], rule) && is_by(&alarms->answers[other], rule) &&
	       !(alarms->answers[one].before && alarms->answers[other].before);
}

/* ---- anywhere ---- */

static const char *const *pair_for(const char *address, size_t size)
{
	if (memchr(address, ':', size))
		return far_apart[KIND_NEW];
	return strspn(address, "0123456789.") >= size ? far_apart[KIND_OLD] : far_apart[KIND_NAME];
}

/*
 * Same protocol and port as the example ("tcp:192.0.2.1:8443"), but another address. ICMP has no
 * port.
 */
static int elsewhere(const char *example, size_t which, char **ret_object)
{
	const char *address = strchr(example, ':'), *port = strrchr(example, ':');
	bool ported = strncmp(example, "icmp:", 5) != 0;
	const char *to;

	if (!address || (ported && port == address))
		return -EINVAL;
	address++;
	if (!ported)
		port = example + strlen(example);
	to = pair_for(address, (size_t)(port - address))[which];
	/* Only an address with a port is in brackets. */
	if (!ported && *to == '[')
		return asprintf(ret_object, "icmp:%.*s", (int)strlen(to) - 2, to + 1) < 0 ? -ENOMEM
											  : 0;
	return asprintf(ret_object, "%.*s%s%s", (int)(address - example), example, to, port) < 0
		       ? -ENOMEM
		       : 0;
}

/* Uses the port of the rule's example, because the probes above have fixed ports. */
static int find_anywhere(struct alarms *alarms, const struct policy_widening *by,
			 size_t *ret_number)
{
	_cleanup_(freep) char *one = NULL, *other = NULL;
	struct probe probe = {ALARM_ANYWHERE, NULL, "connect", NULL, NULL};
	int r;

	if (strcmp(by->section, "network") != 0 || strcmp(by->rights[0], "connect") != 0)
		return 0;
	r = elsewhere(by->witness.object, 0, &one);
	if (r == 0)
		r = elsewhere(by->witness.object, 1, &other);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	probe.object = one;
	probe.too = other;
	return shows(alarms, &probe, by->rule, ret_number);
}

/* ------------------------------------------------------------------------------------------ */

static const struct policy_rule *denied_by(const struct alarms *alarms,
					   const struct policy_widening *by)
{
	const struct policy_rule *rule = by->witness.refusing < alarms->a->rule_count
						 ? &alarms->a->rules[by->witness.refusing]
						 : NULL;

	return rule && (rule->severity || rule->tags) ? rule : NULL;
}

void alarm_release(struct alarm *alarm)
{
	free(alarm->text);
	free(alarm->example);
}

/* Appends a text unless the alarm already contains it. */
static int add(struct alarm *alarm, enum alarm_kind kind, const char *text, const char *example)
{
	char *longer;

	if (alarm->text && strstr(alarm->text, text))
		return 0;
	if (asprintf(&longer, "%s%s%s", alarm->text ? alarm->text : "", alarm->text ? " and " : "",
		     text) < 0)
		return -ENOMEM;
	free(alarm->text);
	alarm->text = longer;
	if (alarm->example)
		return 0;
	alarm->kind = kind;
	alarm->example = strdup(example);
	return alarm->example ? 0 : -ENOMEM;
}

static int add_anywhere(struct alarms *alarms, const struct policy_widening *by,
			struct alarm *alarm)
{
	bool stream = strncmp(by->witness.object, "tcp:", 4) == 0;
	size_t number;
	int r = find_anywhere(alarms, by, &number);

	return r <= 0 ? r
		      : add(alarm, ALARM_ANYWHERE, stream ? "connect anywhere" : "send anywhere",
			    alarms->answers[number].object);
}

static int add_all(struct alarms *alarms, const struct policy_widening *by, struct alarm *alarm)
{
	const struct policy_rule *denied = denied_by(alarms, by);
	size_t number;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(probes); i++) {
		r = shows(alarms, &probes[i], by->rule, &number);
		if (r > 0)
			r = add(alarm, probes[i].kind, probes[i].text,
				alarms->answers[number].object);
	}
	if (r >= 0)
		r = add_anywhere(alarms, by, alarm);
	if (r < 0 || !denied || alarm->text)
		return r;
	return add(alarm, ALARM_DENIED, "do something that a rule denied",
		   denied->tags && denied->tags[0] ? denied->tags[0] : denied->severity);
}

int alarms_find(struct alarms *alarms, const struct policy_widening *by, struct alarm *ret_alarm)
{
	struct alarm alarm = {.kind = ALARM_NONE};
	int r = add_all(alarms, by, &alarm);

	if (r < 0) {
		alarm_release(&alarm);
		return r;
	}
	*ret_alarm = alarm;
	return 0;
}
