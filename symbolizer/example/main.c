/* SPDX-License-Identifier: Apache-2.0 */
/*
 * everline-symbolize: addr2line's options on top of the symbolizer library,
 * and the library's example: a source that opens plain files, one image, one
 * mapping that covers the whole file, a batch of queries, an answer printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbolizer/symbolizer.h"

#define IMAGE 1
#define BATCH 65536

struct options {
	const char *file;
	bool functions, inlines, addresses, demangle, pretty, basenames, borrowed;
};

static const char help[] =
	"Usage: everline-symbolize [OPTION]... -e FILE [ADDRESS]...\n"
	"Says which function and source line an address of FILE belongs to.\n"
	"Without addresses they are read from standard input, hexadecimal.\n"
	"\n"
	"  -e, --exe=FILE    the program or library (a.out)\n"
	"  -f, --functions   print the function before its line\n"
	"  -i, --inlines     print the functions it was inlined into, too\n"
	"  -a, --addresses   print the address first\n"
	"  -C, --demangle    readable C++ and Rust names\n"
	"  -p, --pretty-print  all on one line\n"
	"  -s, --basenames   file names without folders\n"
	"  -b, --borrow      for code without a line, the nearest line before it in the\n"
	"                    function instead of 0\n"
	"  -h, --help        this text\n";

/* --- the source: plain files --------------------------------------------- */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_mapping(void *context, const struct el_image *image,
			const struct el_mapping *mapping)
{
	(void)context;
	(void)image;
	return open_file(mapping->path);
}

/* Where distributions put debug files: by build ID, beside the file, and under /usr/lib/debug. */
static int open_debug(void *context, const struct el_image *image,
		      const struct el_debug_request *request)
{
	const char *slash = strrchr(request->path, '/');
	int folder = slash ? slash - request->path : 0, fd = -ENOENT;
	char path[4096], hex[2 * EL_BUILD_ID_MAX + 1];
	size_t i;

	(void)context;
	(void)image;
	if (request->build_id_size > 1 && request->build_id_size <= EL_BUILD_ID_MAX) {
		for (i = 0; i < request->build_id_size; i++)
			snprintf(hex + 2 * i, 3, "%02x", request->build_id[i]);
		snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex,
			 hex + 2);
		return open_file(path);
	}
	if (!request->debuglink)
		return -ENOENT;
	snprintf(path, sizeof(path), "%.*s%s%s", folder, request->path, slash ? "/" : "",
		 request->debuglink);
	if (strcmp(path, request->path))
		fd = open_file(path);
	if (fd < 0) {
		snprintf(path, sizeof(path), "%.*s%s.debug/%s", folder, request->path,
			 slash ? "/" : "", request->debuglink);
		fd = open_file(path);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), "/usr/lib/debug%.*s/%s", folder, request->path,
			 request->debuglink);
		fd = open_file(path);
	}
	return fd;
}

/* --- printing -------------------------------------------------------------- */
/* Names come from the file: control characters do not reach the terminal. */
static void print_text(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void print_line(const struct options *options, const struct el_answer *answer,
		       const struct el_answer_line *line, bool line_is_known)
{
	const struct el_answer_function *function = &answer->functions.at[line->function];
	const char *name = el_strings_get(
		&answer->strings, options->demangle ? function->name : function->system_name);
	const char *file = el_strings_get(&answer->strings, function->file), *slash;

	if (options->functions) {
		print_text(strcmp(name, "[unknown]") ? name : "??");
		printf(options->pretty ? " at " : "\n");
	}
	slash = options->basenames ? strrchr(file, '/') : NULL;
	print_text(*file ? (slash ? slash + 1 : file) : "??");
	printf(":%" PRIu32 "\n", line_is_known ? line->line : 0);
}

static void print_location(const struct options *options, const struct el_answer *answer,
			   uint64_t addr, const struct el_answer_location *location)
{
	uint32_t i, n = location->n_lines;

	if (options->addresses)
		printf("0x%016" PRIx64 "%s", addr, options->pretty ? ": " : "\n");
	for (i = 0; i < n && (i == 0 || options->inlines); i++) {
		bool borrowed = i == 0 && (location->flags & EL_LOCATION_LINE_BORROWED);

		if (i && options->pretty)
			printf(" (inlined by) ");
		print_line(options, answer, &answer->lines.at[location->first_line + i],
			   !borrowed || options->borrowed);
	}
}

/* --- the batch --------------------------------------------------------------- */
struct batch {
	struct el_query *queries;
	size_t n;
};

static int print_batch(const struct options *options, struct el_symbolizer *symbolizer,
		       struct batch *batch)
{
	struct el_answer answer;
	size_t i;
	int err = el_answer_init(&answer);

	if (err)
		return err;
	err = el_symbolizer_resolve(symbolizer, IMAGE, batch->queries, batch->n, &answer);
	for (i = 0; i < batch->n && !err; i++)
		print_location(options, &answer, batch->queries[i].addr,
			       &answer.locations.at[answer.by_query.at[i]]);
	el_answer_deinit(&answer);
	batch->n = 0;
	return err;
}

static int add_address(const struct options *options, struct el_symbolizer *symbolizer,
		       struct batch *batch, const char *text)
{
	struct el_query query = {.mapping = 1, .pc = EL_PC_EXACT};
	char *end;

	query.addr = strtoull(text, &end, 16);
	if (end == text)
		query.mapping = 0; /* no address: answered with ?? */
	batch->queries[batch->n++] = query;
	return batch->n == BATCH ? print_batch(options, symbolizer, batch) : 0;
}

static int read_addresses(const struct options *options, struct el_symbolizer *symbolizer,
			  struct batch *batch)
{
	el_auto_free char *line = NULL;
	bool is_terminal = isatty(STDIN_FILENO) || isatty(STDOUT_FILENO);
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, stdin) > 0) {
		err = add_address(options, symbolizer, batch, line);
		if (!err && is_terminal)
			err = print_batch(options, symbolizer, batch);
	}
	return err;
}

static int run(const struct options *options, char **addresses)
{
	struct el_source source = {.open_mapping = open_mapping, .open_debug = open_debug};
	struct el_image image = {.id = IMAGE};
	struct el_mapping mapping = {.id = 1,
				     .flags = EL_MAPPING_FILE | EL_MAPPING_WHOLE,
				     .end = UINT64_MAX,
				     .path = options->file};
	struct el_symbolizer *symbolizer;
	struct batch batch = {.queries = malloc(BATCH * sizeof(*batch.queries))};
	int err;

	if (!batch.queries)
		return -ENOMEM;
	err = el_symbolizer_new(&source, NULL, &symbolizer);
	if (!err) {
		err = el_symbolizer_add_image(symbolizer, &image);
		if (!err)
			err = el_symbolizer_add_mapping(symbolizer, IMAGE, &mapping);
		if (!err && !*addresses)
			err = read_addresses(options, symbolizer, &batch);
		for (; !err && *addresses; addresses++)
			err = add_address(options, symbolizer, &batch, *addresses);
		if (!err)
			err = print_batch(options, symbolizer, &batch);
		el_symbolizer_free(symbolizer);
	}
	free(batch.queries);
	return err;
}

static const struct option long_options[] = {
	{"exe", required_argument, NULL, 'e'}, {"functions", no_argument, NULL, 'f'},
	{"inlines", no_argument, NULL, 'i'},   {"addresses", no_argument, NULL, 'a'},
	{"demangle", no_argument, NULL, 'C'},  {"pretty-print", no_argument, NULL, 'p'},
	{"basenames", no_argument, NULL, 's'}, {"borrow", no_argument, NULL, 'b'},
	{"help", no_argument, NULL, 'h'},      {0},
};

int main(int argc, char **argv)
{
	struct options options = {.file = "a.out"};
	int option, fd, err;

	while ((option = getopt_long(argc, argv, "e:fiaCpsbh", long_options, NULL)) != -1) {
		switch (option) {
		case 'e':
			options.file = optarg;
			break;
		case 'f':
			options.functions = true;
			break;
		case 'i':
			options.inlines = true;
			break;
		case 'a':
			options.addresses = true;
			break;
		case 'C':
			options.demangle = true;
			break;
		case 'p':
			options.pretty = true;
			break;
		case 's':
			options.basenames = true;
			break;
		case 'b':
			options.borrowed = true;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			fputs("Try everline-symbolize --help.\n", stderr);
			return 2;
		}
	}
	fd = open_file(options.file);
	if (fd < 0) {
		fprintf(stderr, "everline-symbolize: cannot open %s: %s\n", options.file,
			strerror(-fd));
		return 1;
	}
	close(fd);
	err = run(&options, argv + optind);
	if (err)
		fprintf(stderr, "everline-symbolize: %s: %s\n", options.file, strerror(-err));
	return err || fflush(stdout) ? 1 : 0;
}
