/* SPDX-License-Identifier: Apache-2.0 */
/* A skipped test says why; tests/run.sh shows the line beside its name. Include after cmocka.h. */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#define skip_because(reason)                                                                       \
	do {                                                                                       \
		print_message("%s\n", (reason));                                                   \
		skip();                                                                            \
	} while (0)

#endif
