# SPDX-License-Identifier: Apache-2.0
"""What the agent was asked for: counts the tickets of a week by product."""

import collections
import csv
import json

with open("tickets.csv", newline="", encoding="utf-8") as file:
    counts = collections.Counter(row["product"] for row in csv.DictReader(file))
with open("summary.json", "w", encoding="utf-8") as file:
    json.dump(counts, file)
print(counts.most_common(1)[0][0])
