# SPDX-License-Identifier: Apache-2.0
"""Squid's external_acl helper: does the connection belong to an execution with this policy, agent, session or executor?

    external_acl_type cordon cache=0 ttl=0 negative_ttl=0 %>a %>p %>la %>lp /usr/bin/python3 /usr/share/cordon/proxy/squid_acl.py
    acl researcher external cordon policy=research agent=researcher

Each line asks, each line answers. OK names the execution (%ue in access.log), what it is under (%ea). BH, where nobody can say, is no
match: rules that let something through are to name such an ACL, not rules that refuse.
"""

import sys
from urllib.parse import quote, unquote

from whose import KEYS, Unknown, check_keys, meets, owner


def answer(line):
    """The line that answers this one."""
    try:
        client, client_port, proxy, proxy_port, *words = [unquote(word) for word in line.split()]
        conditions = dict(word.split("=", 1) for word in words if word != "-")
        check_keys(conditions)
        execution = owner((client, client_port), (proxy, proxy_port))
    except (Unknown, ValueError) as error:
        return f"BH message={quote(str(error))}"
    if not meets(execution, conditions):
        return "ERR"
    known = ",".join(f"{key}:{execution[key]}" for key in KEYS[:-1] if execution.get(key))
    return f"OK user={quote(execution['id'])} log={quote(known)}"


def main():
    for line in sys.stdin:
        print(answer(line), flush=True)


if __name__ == "__main__":
    main()
