/* SPDX-License-Identifier: Apache-2.0 */
/* The commands below `cordon log`. */
#ifndef CORDON_CLI_LOG_COMMAND_H
#define CORDON_CLI_LOG_COMMAND_H

/* argv[0] is the command's own word. The result is an exit status. */
int log_command_verify(int argc, char **argv);
int log_command_setup_keys(int argc, char **argv);
int log_command_renew_keys(int argc, char **argv);
int log_command_query(int argc, char **argv);
int log_command_index(int argc, char **argv);
int log_command_export(int argc, char **argv);

#endif
