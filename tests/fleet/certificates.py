# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests of TLS, made by openssl in a folder: NAME.pem and NAME.key. They have all extensions that RFC 5280
requires, since a client may reject those that lack one (Python does from 3.13 on)."""

import os
import subprocess


def openssl(folder, *words):
    return subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def make_authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign")


def make_certificate(folder, name, authority, is_expired=False):
    """Signed by an authority, for 127.0.0.1."""
    lifetime = ["-days", "2"]
    if is_expired:
        # OpenSSL 3.5 rejects a negative number of days; OpenSSL 3.0 has no option for a date.
        has_dates = "-not_after" in openssl(folder, "x509", "-help")
        lifetime = ["-not_before", "20200101000000Z", "-not_after", "20200102000000Z"] if has_dates else ["-days", "-1"]
    with open(os.path.join(folder, "names"), "w", encoding="ascii") as file:
        file.write("subjectAltName=IP:127.0.0.1\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial",
            "-extfile", "names", *lifetime, "-out", f"{name}.pem")
