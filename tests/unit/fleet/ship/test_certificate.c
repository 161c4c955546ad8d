/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates made here, of which some have expired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fleet/ship/certificate.h"

static char path[] = "/tmp/cordon-certificate-XXXXXX";

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	closep(&fd);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

/* Appends one that is good for so many seconds from now. */
static void add(long seconds)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "ae");
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *made = X509_new();

	assert_true(file && key && made);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(made), -1000));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(made), seconds));
	assert_int_equal(X509_set_pubkey(made, key), 1);
	assert_true(X509_sign(made, key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_X509(file, made), 1);
	X509_free(made);
	EVP_PKEY_free(key);
}

static void expiry(void **state)
{
	(void)state;
	assert_int_equal(truncate(path, 0), 0);
	add(-10);
	assert_true(certificate_has_expired(path));
	assert_int_equal(truncate(path, 0), 0);
	add(1000);
	assert_false(certificate_has_expired(path));
	/* One's own is the first; what follows is of who signed it. */
	add(-10);
	assert_false(certificate_has_expired(path));
}

static void none(void **state)
{
	(void)state;
	assert_int_equal(truncate(path, 0), 0);
	assert_false(certificate_has_expired(path));
	assert_false(certificate_has_expired(NULL));
	assert_false(certificate_has_expired("/nonexistent/certificate"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expiry),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
