# SPDX-License-Identifier: Apache-2.0
"""What an agent is asked for on a good day: read a table, write a summary."""

import csv
from collections import defaultdict

revenue = defaultdict(float)
with open("sales.csv", newline="", encoding="utf-8") as table:
    for row in csv.DictReader(table):
        revenue[row["region"]] += int(row["units"]) * float(row["price"])
with open("revenue.txt", "w", encoding="utf-8") as result:
    for region, amount in sorted(revenue.items(), key=lambda item: -item[1]):
        result.write(f"{region:<8}{amount:>10.2f}\n")
