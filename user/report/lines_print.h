/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the annotated source as text, and what they share: the columns of shares, the sum of
 * what was printed. Private to lines_*.c. */
#ifndef EL_REPORT_LINES_PRINT_H
#define EL_REPORT_LINES_PRINT_H

#include "user/report/lines.h"

#define EL_TITLE_COLUMNS 52 /* the share of a title begins here when there is room */
#define EL_NOTE_MIN_PERCENT 0.1

struct el_printer {
	const struct el_annotated *lines;
	char name[512]; /* of el_printer_function() */
	const struct el_report_call *call;
	struct el_text *text;
	unsigned int count_columns;  /* of the column of counts; 0: none */
	unsigned int number_columns; /* of line numbers in this section */
	bool marks;                  /* some line of this section is hot enough */
	uint64_t shown_self;         /* self time printed so far */
};

double el_printer_percent(const struct el_printer *printer, uint64_t part);
/* Its name, short enough for a line; valid until the next call. */
const char *el_printer_function(struct el_printer *printer, uint32_t function);
/* A share in a column of 6 and a blank, coloured by its heat. */
void el_printer_share(struct el_printer *printer, uint64_t part);
/* A count in its column, if there is one; blanks for 0. */
void el_printer_count(struct el_printer *printer, uint64_t count);
void el_printer_heads(struct el_printer *printer);

/* A function's source with its shares. */
int el_section_text(struct el_printer *printer, const struct el_section *section);
/* Library code inlined into the user's own. */
int el_inlined_text(struct el_printer *printer);
/* Functions that no section shows: the user's own without lines, or the others. */
void el_functions_text(struct el_printer *printer, bool mine, const char *heading);

#endif
