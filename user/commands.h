/* SPDX-License-Identifier: Apache-2.0 */
/* The commands, one file each; main.c holds their table. */
#ifndef EL_COMMANDS_H
#define EL_COMMANDS_H

#include "user/options.h"

extern const struct el_command el_command_annotate;
extern const struct el_command el_command_record;
extern const struct el_command el_command_report;

#endif
