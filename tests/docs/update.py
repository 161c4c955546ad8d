# SPDX-License-Identifier: Apache-2.0
"""Writes into pages the output that came instead of what they show:  update.py FILE, which guest.py has made"""

import json
import sys


def main(path):
    with open(path, encoding="utf-8") as file:
        updates = json.load(file)
    # From the end of each page, so that the numbers of lines above stay right.
    for page, first, last, lines in sorted(updates, key=lambda update: -update[1]):
        with open(page, encoding="utf-8") as file:
            text = file.read().split("\n")
        text[first - 1 : last] = lines
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(text))
        print(f"{page}:{first}: {len(lines)} lines")


if __name__ == "__main__":
    main(sys.argv[1])
