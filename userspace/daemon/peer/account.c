/* SPDX-License-Identifier: Apache-2.0 */
/* What users other than root take of the daemon: connections, and its time. */
#include "daemon/peer/account.h"

static void refresh(struct account *account, uint64_t now)
{
	uint64_t passed = now > account->as_of ? now - account->as_of : 0;

	account->as_of = now;
	/* More than this fills it in any case. */
	if (passed > 1ull << 40)
		passed = 1ull << 40;
	account->balance_nsec += (int64_t)(passed / ACCOUNT_SHARE);
	if (account->balance_nsec > ACCOUNT_SAVINGS_NSEC)
		account->balance_nsec = ACCOUNT_SAVINGS_NSEC;
}

/* Idle and with full credit: the slot can be used anew without forgetting a debt. */
static int is_free(struct account *account, uint64_t now)
{
	if (account->connections > 0 || account->kept > 0)
		return 0;
	refresh(account, now);
	return account->as_of == 0 || account->balance_nsec == ACCOUNT_SAVINGS_NSEC;
}

static struct account *find(struct accounts *accounts, uid_t uid, uint64_t now)
{
	struct account *unused = NULL;

	for (size_t i = 0; i < ACCOUNTS_MAX; i++) {
		struct account *account = &accounts->account[i];

		if (account->as_of != 0 && account->uid == uid)
			return account;
		if (!unused && (account->as_of == 0 || is_free(account, now)))
			unused = account;
	}
	if (unused)
		*unused = (struct account){
			.uid = uid,
			.balance_nsec = ACCOUNT_SAVINGS_NSEC,
			.as_of = now,
		};
	return unused;
}

struct account *account_open(struct accounts *accounts, uid_t uid, uint64_t now)
{
	struct account *account = find(accounts, uid, now);

	if (!account || account->connections >= ACCOUNT_MAX_CONNECTIONS ||
	    account->kept >= ACCOUNT_MAX_KEPT)
		return NULL;
	account->connections++;
	return account;
}

void account_close(struct account *account)
{
	account->connections--;
}

void account_charge(struct account *account, int64_t nsec, uint64_t now)
{
	refresh(account, now);
	account->balance_nsec -= nsec;
}

uint64_t account_wait(struct account *account, uint64_t now)
{
	refresh(account, now);
	return account->balance_nsec >= 0 ? 0 : (uint64_t)-account->balance_nsec * ACCOUNT_SHARE;
}
