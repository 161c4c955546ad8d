/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/ask/wider_rules.h"

#include <inttypes.h>
#include <string.h>

#include "policy/ask/question.h"
#include "policy/compile/compile.h"
#include "policy/source/diagnostic.h"

/* What somebody who has to decide must not overlook: an access that shows it. */
static const struct {
	const char *alarm, *right, *object;
	const char *too; /* another one that is allowed by the same rule, or NULL */
} probes[] = {
	{"read credentials", "read", "/root/.ssh/id_rsa", NULL},
	{"read credentials", "read", "/home/user/.ssh/id_rsa", NULL},
	{"read credentials", "read", "/home/user/.aws/credentials", NULL},
	{"read credentials", "read", "/etc/shadow", NULL},
	{"change what others obey", "write", "/root/.ssh/authorized_keys", NULL},
	{"change what others obey", "write", "/home/user/.bashrc", NULL},
	{"change what others obey", "write", "/etc/cron.d/job", NULL},
	{"change what others obey", "write", "/etc/systemd/system/job.service", NULL},
	{"change what others obey", "write", "/usr/local/bin/job", NULL},
	{"connect anywhere, at any port", "connect", "tcp:198.51.100.1:443",
	 "tcp:203.0.113.77:31337"},
	{"connect anywhere", "connect", "tcp:198.51.100.1:443", "tcp:203.0.113.77:443"},
	{"connect anywhere", "connect", "tcp:198.51.100.1:80", "tcp:203.0.113.77:80"},
	{"connect anywhere", "connect", "tcp:198.51.100.1:22", "tcp:203.0.113.77:22"},
	{"send anywhere", "connect", "udp:198.51.100.1:53", "udp:203.0.113.77:53"},
	{"run any program", "run", "/any/program", "/home/user/any-program"},
	{"run code that it makes", "run", "@memfd", NULL},
};

/* Does the rule decide that it is allowed? Without a rule: is it allowed at all? */
static bool is_allowed(const struct compiled_policy *p, const char *right, const char *object,
		       uint16_t rule)
{
	const char *unbound[CORDON_MAX_ANCHORS] = {};
	char error[QUESTION_ERROR_TEXT];
	struct policy_question q;
	struct policy_answer a;
	bool allowed;

	if (!p || question_read(p, right, object, unbound, &q, error) < 0)
		return false;
	allowed = question_judge(p, &q, &a) == 0 && a.missing == 0 &&
		  (rule == CORDON_NO_RULE || a.rule[q.right] == rule);
	question_release(&q);
	return allowed;
}

static void find_alarm(const struct compiled_policy *a, const struct compiled_policy *b,
		       struct widening *w)
{
	const struct policy_rule *denied = a && w->by.witness.refusing < a->rule_count
						   ? &a->rules[w->by.witness.refusing]
						   : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(probes) && !w->alarm; i++) {
		if (is_allowed(a, probes[i].right, probes[i].object, CORDON_NO_RULE) ||
		    !is_allowed(b, probes[i].right, probes[i].object, w->by.rule) ||
		    (probes[i].too && !is_allowed(b, probes[i].right, probes[i].too, w->by.rule)))
			continue;
		w->alarm = probes[i].alarm;
		w->alarm_example = probes[i].object;
	}
	if (w->alarm || !denied || !(denied->severity || denied->tags))
		return;
	w->alarm = "do what a rule denied";
	w->alarm_example = denied->tags && denied->tags[0] ? denied->tags[0] : denied->severity;
}

static unsigned int depth_of(const struct policy_widening *w)
{
	unsigned int depth = 0;

	for (const char *at = w->below ? w->below : w->witness.object; *at; at++)
		depth += *at == '/';
	return depth;
}

static int compare_widenings(const void *left, const void *right)
{
	const struct widening *a = left, *b = right;

	if (!a->alarm != !b->alarm)
		return a->alarm ? -1 : 1;
	if (a->by.unbounded != b->by.unbounded)
		return a->by.unbounded ? -1 : 1;
	if (a->by.unbounded && depth_of(&a->by) != depth_of(&b->by))
		return depth_of(&a->by) < depth_of(&b->by) ? -1 : 1;
	if (!a->by.unbounded && a->by.count != b->by.count)
		return a->by.count > b->by.count ? -1 : 1;
	return (a->by.rule > b->by.rule) - (a->by.rule < b->by.rule);
}

static int compile_nothing(struct compiled_policy **ret_policy)
{
	static const char text[] = "version: 1\n";
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();

	return d ? policy_compile_text(text, sizeof(text) - 1, "nothing", NULL, d, ret_policy)
		 : -ENOMEM;
}

int widenings_find(const struct compiled_policy *a, const struct compiled_policy *b,
		   struct widening **ret_widenings, size_t *ret_count)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *nothing = NULL;
	struct policy_widening *found = NULL;
	struct widening *made;
	size_t count = 0;
	int r = a ? 0 : compile_nothing(&nothing);

	if (r == 0)
		r = policy_widenings(a ? a : nothing, b, &found, &count);
	if (r < 0)
		return r;
	made = calloc(count + 1, sizeof(*made));
	if (!made) {
		policy_widenings_free(found, count);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		made[i].by = found[i];
		find_alarm(a, b, &made[i]);
	}
	free(found);
	qsort(made, count, sizeof(*made), compare_widenings);
	*ret_widenings = made;
	*ret_count = count;
	return 0;
}

void widenings_free(struct widening *widenings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		policy_widening_release(&widenings[i].by);
	free(widenings);
}

char *widening_phrase(const struct widening *w)
{
	const struct policy_widening *by = &w->by;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (w->alarm)
		fprintf(out, "this lets it %s: ", w->alarm);
	fputs(by->section, out);
	for (size_t i = 0; i < by->right_count; i++)
		fprintf(out, "%s %s", i > 0 ? "," : "", by->rights[i]);
	fprintf(out, " %s", by->witness.object);
	if (*by->witness.bindings)
		fprintf(out, " (%s)", by->witness.bindings);
	if (by->unbounded && by->below)
		/* Of a rule with several patterns the largest may lie elsewhere. */
		fprintf(out, "%s without end below %s",
			strncmp(by->witness.object, by->below, strlen(by->below)) == 0
				? " and others"
				: ", and names",
			by->below);
	else if (by->unbounded)
		fputs(" and others without end", out);
	else if (by->count >= 1000000)
		fputs(" and more than a million others", out);
	else if (by->count > 1)
		fprintf(out, " and %" PRIu64 " more", by->count - 1);
	return fclose(out) == 0 ? TAKE_PTR(text) : NULL;
}

char *widening_line(const struct widening *w, const struct compiled_policy *b)
{
	const struct policy_rule *rule = &b->rules[w->by.rule];
	_cleanup_(freep) char *phrase = widening_phrase(w);
	char *line;

	if (!phrase || asprintf(&line, "%s, allowed by %s:%u: %s", phrase, rule->file, rule->line,
				rule->text) < 0)
		return NULL;
	return line;
}
