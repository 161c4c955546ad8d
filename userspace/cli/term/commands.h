/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands. Each gets its own name as argv[0], prints its own help for --help, and returns
 * the exit status.
 */
#ifndef CORDON_CLI_COMMANDS_H
#define CORDON_CLI_COMMANDS_H

int cmd_run(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_approve(int argc, char **argv);
int cmd_approvals(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_who(int argc, char **argv);
int cmd_kill(int argc, char **argv);
int cmd_disable(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_could(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_setup(int argc, char **argv);
int cmd_adopt(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_propose(int argc, char **argv);
int cmd_mcp(int argc, char **argv);

#endif
