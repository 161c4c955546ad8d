# SPDX-License-Identifier: Apache-2.0
"""In the place of the daemon's status socket, where no kernel enforces: answers `status` with what it is told, as
docs/protocol.md has it, and notes what else it was asked for."""

import json
import os
import socket
import threading

CAUSES = ("exited", "signaled", "timeout", "denials", "owner-gone", "killed", "recovered", "not-started", "cancelled")
COUNTERS = (
    "unknown_execution", "unresolved", "too_deep", "rename_race", "label_fallback", "scratch_exhausted", "label_exhausted",
    "no_policy", "critical_dropped", "activity_dropped", "fork_refused", "bad_table", "packet_unowned", "label_busy",
    "dns_unserved", "credentials_exhausted",
)  # fmt: skip
BELOW = (10**6, 5 * 10**6, 10 * 10**6, 50 * 10**6, 100 * 10**6, 10**9, None)


def healthy():
    """What a daemon says that has been at work for an hour."""
    return {
        "ok": True, "version": "0.1.0", "protocol": 2, "pid": 4711, "embedded": False, "enforcing": True,
        "uptime_nsec": 3600 * 10**9, "executions": 3, "policies": 2, "log": "/var/log/cordon", "log_writable": True,
        "log_problem": "", "records_lost": 0, "stray_events": 0, "malformed_events": 0, "connections": 4,
        "counters": dict.fromkeys(COUNTERS, 0),
        "dns": {"queries": 9, "forwarded": 5, "answered": 5, "refused": 4, "failed": 0, "dropped": 0, "waiting": 0},
        "executors": {"entries": 1, "adopted": 7, "refused": 0, "cleaned_late": 0},
        "turns": {"longest": {"what": "request", "nsec": 4200000}, "busiest": {"what": "records", "nsec": 2100000},
                  "total_nsec": 1500000000,
                  "histogram": [{"below_nsec": bound, "turns": 100 if i == 0 else 1} for i, bound in enumerate(BELOW)]},
        "totals": {"started": 40, "refused": 2, "ended": dict.fromkeys(CAUSES, 1), "denials": 12, "would_denials": 0, "attempts": 3,
                   "packets_denied": 0, "events": 900, "coalesced": 5, "limited": 0, "dropped": 0, "gaps": 0, "missing_events": 0},
        "log_figures": {"failing": False, "records": 1000, "written_bytes": 800000, "free_bytes": 50 * 2**30, "sealing": True,
                        "sealed": 998, "seal_age_nsec": 4 * 10**9},
        "gaps": [],
    }  # fmt: skip


class FakeDaemon:
    """`status` is what it says; where that is None it does not answer at all."""

    def __init__(self, path):
        self.path = path
        self.status = healthy()
        self.asked = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        with client:
            while data := client.recv(65536):
                self.asked.append(json.loads(data))
                status = self.status
                if status is None:
                    threading.Event().wait()
                client.send(status if isinstance(status, bytes) else json.dumps(status).encode())

    def stop(self):
        # Closing alone does not end an accept(2) that has begun.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)
