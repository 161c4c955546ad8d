/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a human's decision about what a policy may allow. */
#include "audit/record/approval.h"

#include "audit/record/fields.h"
#include "audit/record/names.h"
#include "base/clock.h"

static const char *outcome_of(enum audit_approval_decision decision)
{
	return decision == AUDIT_APPROVAL_GRANTED || decision == AUDIT_APPROVAL_USED ? "success"
										     : "failure";
}

json_t *audit_record_approval(const struct audit_approval *approval, uint64_t time)
{
	char expires[CLOCK_TEXT_SIZE];
	json_t *object;
	struct fields f;

	fields_begin(&f, time, "event", "approval", outcome_of(approval->decision));
	fields_set(&f, fields_object(&f, f.record, "user"), "id",
		   json_sprintf("%u", approval->uid));
	if (approval->execution)
		(void)fields_execution(&f, approval->execution);
	object = fields_object(&f, f.cordon, "approval");
	fields_set(&f, object, "decision",
		   json_string(name_of_approval_decision(approval->decision)));
	fields_string(&f, object, "subject", approval->subject);
	fields_digest(&f, object, "digest", approval->digest);
	if (approval->have_base)
		fields_digest(&f, object, "base", approval->base);
	else
		fields_set(&f, object, "base", json_null());
	fields_string(&f, object, "reason", approval->reason);
	fields_strings(&f, object, "witnesses", approval->witnesses);
	fields_string(&f, object, "who", approval->who);
	fields_number(&f, object, "pid", approval->pid);
	fields_number(&f, object, "uid", approval->uid);
	if (approval->have_login)
		fields_number(&f, object, "login_uid", approval->login_uid);
	else
		fields_set(&f, object, "login_uid", json_null());
	clock_format(approval->expires, expires);
	fields_set(&f, object, "expires",
		   approval->expires > 0 ? json_string(expires) : json_null());
	return fields_end(&f);
}
