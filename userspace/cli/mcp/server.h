/* SPDX-License-Identifier: Apache-2.0 */
/* The server's loop: a client's messages in, calls that run beside each other, answers out. */
#ifndef CORDON_CLI_MCP_SERVER_H
#define CORDON_CLI_MCP_SERVER_H

#include "base/failure.h"
#include "cli/mcp/tools.h"

/* Calls at a time; further ones are answered at once, with a refusal. */
#define SERVER_CALLS_MAX 8

/*
 * Serves until the input is over and all is answered (0), the client reads no more although it
 * waits for something (-EPIPE), or a signal has come that ends it: *ret_signal, else 0. Then
 * nothing that it started goes on. -ENOMEM, or as poll(2).
 */
int server_run(const struct tool_settings *settings, int input_fd, int output_fd, int *ret_signal,
	       struct failure *failure);

#endif
