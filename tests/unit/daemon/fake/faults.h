/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the fakes that can fail are counted; a test has the n-th of them fail. */
#ifndef CORDON_TESTS_DAEMON_FAKE_FAULTS_H
#define CORDON_TESTS_DAEMON_FAKE_FAULTS_H

#include <string.h>

static struct {
	unsigned int calls; /* so far */
	unsigned int at;    /* which is to fail; 0: none */
	int error;	    /* as what: positive errno */
	const char *only;   /* if set, only calls of this function count */
	const char *failed; /* which did */
} faults;

/* 0, or what the call is to return. */
static inline int faults_next(const char *call)
{
	if (faults.only && strcmp(faults.only, call) != 0)
		return 0;
	if (++faults.calls != faults.at)
		return 0;
	faults.failed = call;
	return -faults.error;
}

#define FAULT_HERE()                                                                               \
	do {                                                                                       \
		int fault_ = faults_next(__func__);                                                \
		if (fault_ < 0)                                                                    \
			return fault_;                                                             \
	} while (0)

static inline void faults_set(unsigned int at, int error)
{
	memset(&faults, 0, sizeof(faults));
	faults.at = at;
	faults.error = error;
}

/* From here on, the first call of this function fails. */
static inline void faults_set_for(const char *call, int error)
{
	faults_set(1, error);
	faults.only = call;
}

static inline void faults_none(void)
{
	faults_set(0, 0);
}

#endif
