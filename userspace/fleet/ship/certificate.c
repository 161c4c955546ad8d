/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a client certificate has expired. */
#include "fleet/ship/certificate.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>

#include "base/cleanup.h"

bool certificate_has_expired(const char *path)
{
	_cleanup_(fclosep) FILE *file = path ? fopen(path, "re") : NULL;
	X509 *certificate = file ? PEM_read_X509(file, NULL, NULL, NULL) : NULL;
	/* The result is 0 if the certificate has no valid date. */
	bool expired = certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;

	X509_free(certificate);
	return expired;
}

const char *certificate_say_expired(const char *path, char text[CERTIFICATE_TEXT_SIZE])
{
	text[0] = '\0';
	if (certificate_has_expired(path))
		snprintf(text, CERTIFICATE_TEXT_SIZE, "; the certificate in %s has expired", path);
	return text;
}
