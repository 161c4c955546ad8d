/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of cordon-fleet. argv[0] is the command's name; each returns an exit status. */
#ifndef CORDON_FLEET_COMMANDS_H
#define CORDON_FLEET_COMMANDS_H

/* The default of --store. */
#define DEFAULT_STORE_DIRECTORY "/var/lib/cordon-fleet"

int fleet_command_store(int argc, char **argv);
int fleet_command_store_skip(int argc, char **argv);
int fleet_command_ask(int argc, char **argv);
int fleet_command_hosts(int argc, char **argv);
int fleet_command_could(int argc, char **argv);
int fleet_command_report(int argc, char **argv);
int fleet_command_policies(int argc, char **argv);

#endif
