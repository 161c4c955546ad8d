#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Ends at once, but leaves a process behind, in a session of its own so that no terminal ends it.
setsid sleep 300 >/dev/null 2>&1 &
sleep 0.5
echo "$!"
