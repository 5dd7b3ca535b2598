/* SPDX-License-Identifier: Apache-2.0 */
/* Side-band records of every kind and every length, and a ring of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "user/sampling/sideband.h"
#include "user/sampling/sideband_ring.h"

#define TIME 123456789ull

/* --- a writer of records --- */

static void begin(struct el_buffer *record, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	record->bytes.n = 0;
	el_buffer_add(record, &header, sizeof(header));
}

/* NUL-terminated and padded to eight bytes, as the kernel does. */
static void add_name(struct el_buffer *record, const char *name)
{
	el_buffer_add(record, name, strlen(name) + 1);
	while (record->bytes.n % 8)
		el_buffer_add_u8(record, 0);
}

static void end(struct el_buffer *record, uint64_t time_ns)
{
	uint16_t size;

	el_buffer_add_u64(record, time_ns);
	assert_int_equal(record->err, 0);
	size = record->bytes.n;
	memcpy(record->bytes.at + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void write_mmap(struct el_buffer *record, uint32_t prot, const char *name, int build_id_size)
{
	begin(record, PERF_RECORD_MMAP2, build_id_size ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
	el_buffer_add_u32(record, 11);
	el_buffer_add_u32(record, 12);
	el_buffer_add_u64(record, 0x400000);
	el_buffer_add_u64(record, 0x3000);
	el_buffer_add_u64(record, 0x1000);
	if (build_id_size) {
		el_buffer_add_u8(record, build_id_size);
		for (int i = 0; i < 23; i++)
			el_buffer_add_u8(record, i);
	} else {
		el_buffer_add_u32(record, 8);
		el_buffer_add_u32(record, 1);
		el_buffer_add_u64(record, 4242);
		el_buffer_add_u64(record, 7);
	}
	el_buffer_add_u32(record, prot);
	el_buffer_add_u32(record, MAP_PRIVATE);
	add_name(record, name);
	end(record, TIME);
}

static void write_task(struct el_buffer *record, uint32_t type, uint32_t pid, uint32_t parent,
		       uint32_t tid)
{
	begin(record, type, 0);
	el_buffer_add_u32(record, pid);
	el_buffer_add_u32(record, parent);
	el_buffer_add_u32(record, tid);
	el_buffer_add_u32(record, parent);
	el_buffer_add_u64(record, 99);
	end(record, TIME);
}

static void write_comm(struct el_buffer *record, uint16_t misc, const char *comm)
{
	begin(record, PERF_RECORD_COMM, misc);
	el_buffer_add_u32(record, 11);
	el_buffer_add_u32(record, 12);
	add_name(record, comm);
	end(record, TIME);
}

static void parse(const struct el_buffer *record, struct el_sideband *event)
{
	assert_int_equal(el_sideband_parse(record->bytes.at, record->bytes.n, event), 0);
	assert_int_equal(event->time_ns, TIME);
}

/* --- parsing --- */

static void executable_file_by_inode_is_a_mapping(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_mmap(&record, PROT_READ | PROT_EXEC, "/usr/lib/a b.so (deleted)", 0);
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_MMAP);
	assert_int_equal(event.pid, 11);
	assert_int_equal(event.mapping.start, 0x400000);
	assert_int_equal(event.mapping.end, 0x403000);
	assert_int_equal(event.mapping.offset, 0x1000);
	assert_int_equal(event.mapping.dev_major, 8);
	assert_int_equal(event.mapping.dev_minor, 1);
	assert_int_equal(event.mapping.inode, 4242);
	assert_int_equal(event.mapping.build_id_size, 0);
	assert_int_equal(event.mapping.flags, EL_MAPPING_FILE);
	assert_string_equal(event.mapping.path, "/usr/lib/a b.so (deleted)");
	el_buffer_deinit(&record);
}

static void executable_file_by_build_id_has_no_inode(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_mmap(&record, PROT_EXEC, "/bin/x", 20);
	parse(&record, &event);
	assert_int_equal(event.mapping.build_id_size, 20);
	assert_int_equal(event.mapping.build_id[0], 3); /* after three reserved bytes */
	assert_int_equal(event.mapping.build_id[19], 22);
	assert_int_equal(event.mapping.inode, 0);
	el_buffer_deinit(&record);
}

static void build_id_longer_than_any_is_ignored(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_mmap(&record, PROT_EXEC, "/bin/x", 255);
	parse(&record, &event);
	assert_int_equal(event.mapping.build_id_size, 0);
	el_buffer_deinit(&record);
}

static void mapping_without_exec_is_nothing_asked_for(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_mmap(&record, PROT_READ | PROT_WRITE, "/bin/x", 0);
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_OTHER);
	el_buffer_deinit(&record);
}

static void names_of_the_kernel_tell_the_kind_of_mapping(void **state)
{
	static const struct {
		const char *name;
		uint32_t flags;
		const char *path;
	} rows[] = {
		{"//anon", EL_MAPPING_ANONYMOUS, ""},
		{"[heap]", EL_MAPPING_ANONYMOUS, ""},
		{"//toolong", EL_MAPPING_ANONYMOUS, ""},
		{"", EL_MAPPING_ANONYMOUS, ""},
		{"[vdso]", EL_MAPPING_VDSO, "[vdso]"},
		{"/memfd:jit (deleted)", EL_MAPPING_FILE, "/memfd:jit (deleted)"},
	};
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		write_mmap(&record, PROT_EXEC, rows[i].name, 0);
		parse(&record, &event);
		assert_int_equal(event.mapping.flags, rows[i].flags);
		assert_string_equal(event.mapping.path, rows[i].path);
	}
	el_buffer_deinit(&record);
}

static void comm_of_an_exec_is_an_exec(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_comm(&record, 0, "worker\x1b[31m");
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_COMM);
	assert_int_equal(event.tid, 12);
	assert_string_equal(event.text, "worker\x1b[31m");
	write_comm(&record, PERF_RECORD_MISC_COMM_EXEC, "true");
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_EXEC);
	el_buffer_deinit(&record);
}

static void fork_exit_lost_and_cgroup_keep_their_numbers(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_task(&record, PERF_RECORD_FORK, 20, 10, 20);
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_FORK);
	assert_int_equal(event.pid, 20);
	assert_int_equal(event.parent_pid, 10);
	write_task(&record, PERF_RECORD_EXIT, 20, 10, 21);
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_EXIT);
	assert_int_equal(event.tid, 21);

	begin(&record, PERF_RECORD_LOST, 0);
	el_buffer_add_u64(&record, 5);
	el_buffer_add_u64(&record, 77);
	end(&record, TIME);
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_LOST);
	assert_int_equal(event.n, 77);

	begin(&record, PERF_RECORD_CGROUP, 0);
	el_buffer_add_u64(&record, 31);
	add_name(&record, "/a.slice");
	end(&record, TIME);
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_CGROUP);
	assert_int_equal(event.n, 31);
	assert_string_equal(event.text, "/a.slice");
	el_buffer_deinit(&record);
}

/* Each record with each shorter length, in memory of exactly that length. */
static void record_cut_anywhere_is_refused_or_whole(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_mmap(&record, PROT_EXEC, "/usr/lib/x.so", 20);
	for (size_t size = 0; size < record.bytes.n; size++) {
		uint16_t said = size;
		uint8_t *cut = malloc(size ? size : 1);

		memcpy(cut, record.bytes.at, size);
		if (size >= sizeof(struct perf_event_header))
			memcpy(cut + offsetof(struct perf_event_header, size), &said, sizeof(said));
		/* The time takes the last eight bytes, so a cut name may still end in one of its
		 * NULs. */
		if (!el_sideband_parse(cut, size, &event))
			assert_true(size > record.bytes.n - 8 || event.type == EL_SIDEBAND_OTHER);
		free(cut);
	}
	el_buffer_deinit(&record);
}

static void wild_lengths_and_numbers_are_refused(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	write_mmap(&record, PROT_EXEC, "/x", 0);
	memset(record.bytes.at + 8 + 16, 0xff, 8); /* a size that passes the end of memory */
	assert_int_equal(el_sideband_parse(record.bytes.at, record.bytes.n, &event), -EBADMSG);
	write_comm(&record, 0, "x");
	assert_int_equal(el_sideband_parse(record.bytes.at, record.bytes.n - 8, &event), -EBADMSG);
	memset(record.bytes.at + 16, 'A', record.bytes.n - 24); /* no NUL before the time */
	assert_int_equal(el_sideband_parse(record.bytes.at, record.bytes.n, &event), -EBADMSG);
	el_buffer_deinit(&record);
}

static void unknown_type_is_nothing_asked_for(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband event;

	(void)state;
	begin(&record, 4711, 0xffff);
	end(&record, TIME);
	parse(&record, &event);
	assert_int_equal(event.type, EL_SIDEBAND_OTHER);
	el_buffer_deinit(&record);
}

/* --- the ring --- */

#define RING 4096

/* A ring in our own memory in the place of the kernel's. */
static void ring_setup(struct el_sideband_ring *ring)
{
	size_t page = sysconf(_SC_PAGESIZE);

	*ring = (struct el_sideband_ring){.fd = -1, .size = RING};
	ring->memory =
		mmap(NULL, page + RING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(ring->memory, MAP_FAILED);
	ring->record = malloc(65536);
	assert_non_null(ring->record);
}

static void ring_put(struct el_sideband_ring *ring, const void *bytes, size_t size)
{
	struct perf_event_mmap_page *page = ring->memory;
	uint8_t *records = (uint8_t *)ring->memory + sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < size; i++)
		records[(page->data_head + i) % RING] = ((const uint8_t *)bytes)[i];
	page->data_head += size;
}

static int count_comm(void *context, const void *bytes, size_t size)
{
	struct el_sideband event;
	int err = el_sideband_parse(bytes, size, &event);

	if (!err && event.type == EL_SIDEBAND_COMM && !strcmp(event.text, "wraps"))
		++*(int *)context;
	return err;
}

static void record_that_wraps_is_read_whole(void **state)
{
	struct el_buffer record = {0};
	struct el_sideband_ring ring;
	uint64_t broken = 0;
	int seen = 0;

	(void)state;
	ring_setup(&ring);
	write_comm(&record, 0, "wraps");
	for (int i = 1; i <= 1000; i++) {
		ring_put(&ring, record.bytes.at, record.bytes.n);
		assert_int_equal(el_sideband_ring_read(&ring, count_comm, &seen, &broken), 0);
		assert_int_equal(seen, i);
	}
	assert_int_equal(broken, 0);
	el_buffer_deinit(&record);
	el_sideband_ring_deinit(&ring);
}

static void record_of_no_length_drops_the_rest_and_is_counted(void **state)
{
	static const uint16_t sizes[] = {0, 7, 65535};
	struct el_buffer record = {0};
	struct el_sideband_ring ring;
	uint64_t broken = 0;
	int seen = 0;

	(void)state;
	ring_setup(&ring);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		write_comm(&record, 0, "wraps");
		memcpy(record.bytes.at + 6, &sizes[i], sizeof(sizes[i]));
		ring_put(&ring, record.bytes.at, record.bytes.n);
		assert_int_equal(el_sideband_ring_read(&ring, count_comm, &seen, &broken), 0);
		assert_int_equal(broken, i + 1);
	}
	write_comm(&record, 0, "wraps"); /* the ring goes on afterwards */
	ring_put(&ring, record.bytes.at, record.bytes.n);
	assert_int_equal(el_sideband_ring_read(&ring, count_comm, &seen, &broken), 0);
	assert_int_equal(seen, 1);
	el_buffer_deinit(&record);
	el_sideband_ring_deinit(&ring);
}

static void head_beyond_the_ring_is_broken(void **state)
{
	struct el_sideband_ring ring;
	uint64_t broken = 0;
	int seen = 0;

	(void)state;
	ring_setup(&ring);
	((struct perf_event_mmap_page *)ring.memory)->data_head = 10 * RING;
	assert_int_equal(el_sideband_ring_read(&ring, count_comm, &seen, &broken), 0);
	assert_int_equal(broken, 1);
	assert_int_equal(seen, 0);
	el_sideband_ring_deinit(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executable_file_by_inode_is_a_mapping),
		cmocka_unit_test(executable_file_by_build_id_has_no_inode),
		cmocka_unit_test(build_id_longer_than_any_is_ignored),
		cmocka_unit_test(mapping_without_exec_is_nothing_asked_for),
		cmocka_unit_test(names_of_the_kernel_tell_the_kind_of_mapping),
		cmocka_unit_test(comm_of_an_exec_is_an_exec),
		cmocka_unit_test(fork_exit_lost_and_cgroup_keep_their_numbers),
		cmocka_unit_test(record_cut_anywhere_is_refused_or_whole),
		cmocka_unit_test(wild_lengths_and_numbers_are_refused),
		cmocka_unit_test(unknown_type_is_nothing_asked_for),
		cmocka_unit_test(record_that_wraps_is_read_whole),
		cmocka_unit_test(record_of_no_length_drops_the_rest_and_is_counted),
		cmocka_unit_test(head_beyond_the_ring_is_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
