/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a Python that is not the system's has its modules, by what a command runs, as Python itself
 * finds them.
 */
#ifndef CORDON_CLI_PYTHON_VENV_H
#define CORDON_CLI_PYTHON_VENV_H

/*
 * Of a command whose argv[0] is `program`, found by `path` (a value of PATH or NULL) and from
 * `workdir`, an absolute path, on: the directory that has pyvenv.cfg, above the program's bin/ (PEP
 * 405), or the one that has an interpreter's bin/, unless that is the system's. *ret_directory:
 * NULL where there is none, or it lies below `workdir`, where code may have planted it; caller
 * frees. -ENOMEM.
 */
int python_venv_find(const char *program, const char *path, const char *workdir,
		     char **ret_directory);

#endif
