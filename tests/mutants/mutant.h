/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included first in each file of the BPF object that has all mutations of the table `checks`
 * compiled in. The number says which of them is in force; 0: none.
 */
#ifndef CORDON_TESTS_MUTANT_H
#define CORDON_TESTS_MUTANT_H

/* Written by whoever runs the tests, while the programs are attached. */
volatile unsigned int mutant_number;

#define IS_MUTANT(number) (mutant_number == (number))

#endif
