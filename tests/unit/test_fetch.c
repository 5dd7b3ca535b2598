/* SPDX-License-Identifier: Apache-2.0 */
/* Files of real processes through a real fetcher: mapped, deleted, replaced, of dead ones, debug
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "with_fetcher.h"

#define AT 0x100000000ull

struct fixture {
	struct with_fetcher with;
	char folder[64];
	char path[128]; /* folder/object */
	struct el_mapping mapping;
	struct stat stat;
};

static void set_up(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	with_fetcher_start(&fixture->with);
	folder_make(fixture->folder, sizeof(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/object", fixture->folder);
	file_write(fixture->folder, "object", "first");
	assert_int_equal(stat(fixture->path, &fixture->stat), 0);
	fixture->mapping = (struct el_mapping){
		.id = 1,
		.flags = EL_MAPPING_FILE,
		.start = AT,
		.end = AT + 4096,
		.path = fixture->path,
		.inode = fixture->stat.st_ino,
		.dev_major = major(fixture->stat.st_dev),
		.dev_minor = minor(fixture->stat.st_dev),
	};
}

static void tear_down(struct fixture *fixture)
{
	folder_remove(fixture->folder);
	with_fetcher_end(&fixture->with);
}

static int mapping_child(int ready, const char *folder)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/object", folder);
	fd = open(path, O_RDONLY);
	if (mmap((void *)AT, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
	    MAP_FAILED)
		return 1;
	child_tell(ready);
	return 0;
}

static int open_mapping(struct fixture *fixture, const struct el_image *image)
{
	return fixture->with.source.open_mapping(fixture->with.source.context, image,
						 &fixture->mapping);
}

static void living_process_gives_its_file(void **state)
{
	struct fixture fixture;
	struct el_image image;
	pid_t pid;
	int fd;

	(void)state;
	set_up(&fixture);
	pid = child_start(mapping_child, fixture.folder);
	image = image_of(pid, 1);
	fd = open_mapping(&fixture, &image);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_true(fd_holds(fd, "first"));
	child_end(pid);
	tear_down(&fixture);
}

static void deleted_and_replaced_file_comes_through_the_mapping(void **state)
{
	struct fixture fixture;
	char marked[160];
	struct el_image image;
	pid_t pid;

	(void)state;
	set_up(&fixture);
	pid = child_start(mapping_child, fixture.folder);
	image = image_of(pid, 1);
	unlink(fixture.path);
	assert_true(fd_holds(open_mapping(&fixture, &image), "first"));
	file_write(fixture.folder, "object", "second");
	assert_true(fd_holds(open_mapping(&fixture, &image), "first"));
	snprintf(marked, sizeof(marked), "%s (deleted)", fixture.path);
	fixture.mapping.path = marked;
	assert_true(fd_holds(open_mapping(&fixture, &image), "first"));
	child_end(pid);
	/* Dead: only the path is left, and it leads to another file. */
	assert_int_equal(open_mapping(&fixture, &image), -ESTALE);
	tear_down(&fixture);
}

static void dead_process_whose_file_remains_is_found_by_path(void **state)
{
	struct fixture fixture;
	struct el_image image, stranger;
	pid_t pid;

	(void)state;
	set_up(&fixture);
	pid = child_start(mapping_child, fixture.folder);
	image = image_of(pid, 1);
	assert_true(fd_holds(open_mapping(&fixture, &image), "first"));
	child_end(pid);
	assert_true(fd_holds(open_mapping(&fixture, &image), "first"));
	/* Never seen alive: the file is known by its inode, or not given. */
	stranger = image;
	stranger.id = 2;
	assert_true(fd_holds(open_mapping(&fixture, &stranger), "first"));
	fixture.mapping.inode = 0;
	assert_int_equal(open_mapping(&fixture, &stranger), -ENOENT);
	tear_down(&fixture);
}

static void reused_pid_is_taken_for_dead(void **state)
{
	struct fixture fixture;
	struct el_image image;
	pid_t pid;
	char byte;

	(void)state;
	set_up(&fixture);
	pid = child_start(mapping_child, fixture.folder);
	image = image_of(pid, 1);
	image.start_ns -= 1000000000;
	unlink(fixture.path);
	assert_int_equal(open_mapping(&fixture, &image), -ENOENT);
	assert_int_equal(
		fixture.with.source.read_memory(fixture.with.source.context, &image, AT, &byte, 1),
		-ESRCH);
	child_end(pid);
	tear_down(&fixture);
}

static void what_is_no_regular_file_is_refused(void **state)
{
	static const char *const paths[] = {"/dev/zero", "/tmp", "/proc/self/root/dev/null"};
	struct fixture fixture;
	struct el_image image;
	pid_t pid;

	(void)state;
	set_up(&fixture);
	pid = child_start(mapping_child, fixture.folder);
	image = image_of(pid, 1);
	fixture.mapping.start++;
	fixture.mapping.inode = 0;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		fixture.mapping.path = paths[i];
		assert_int_equal(open_mapping(&fixture, &image), -EACCES);
	}
	unlink(fixture.path);
	assert_int_equal(mkfifo(fixture.path, 0600), 0);
	fixture.mapping.path = fixture.path;
	assert_int_equal(open_mapping(&fixture, &image), -EACCES);
	unlink(fixture.path);
	file_write(fixture.folder, "object", "");
	assert_int_equal(truncate(fixture.path, 1ll << 40), 0);
	assert_int_equal(open_mapping(&fixture, &image), -EACCES);
	child_end(pid);
	tear_down(&fixture);
}

static void anonymous_and_vdso_mappings_have_no_file(void **state)
{
	struct fixture fixture;
	struct el_image image = image_of(getpid(), 1);

	(void)state;
	set_up(&fixture);
	fixture.mapping.path = "[vdso]";
	fixture.mapping.flags = EL_MAPPING_VDSO;
	assert_int_equal(open_mapping(&fixture, &image), -ENOENT);
	fixture.mapping.path = "";
	fixture.mapping.flags = EL_MAPPING_ANONYMOUS;
	assert_int_equal(open_mapping(&fixture, &image), -ENOENT);
	tear_down(&fixture);
}

static int open_link(struct fixture *fixture, const struct el_image *image, const char *name)
{
	struct el_debug_request request = {.debuglink = name, .path = fixture->path};

	return fixture->with.source.open_debug(fixture->with.source.context, image, &request);
}

static void debug_file_is_found_beside_the_object(void **state)
{
	struct fixture fixture;
	struct el_image image = image_of(getpid(), 1);
	char folder[128];

	(void)state;
	set_up(&fixture);
	snprintf(folder, sizeof(folder), "%s/.debug", fixture.folder);
	assert_int_equal(mkdir(folder, 0755), 0);
	file_write(folder, "object.dbg", "in .debug");
	assert_true(fd_holds(open_link(&fixture, &image, "object.dbg"), "in .debug"));
	file_write(fixture.folder, "object.dbg", "beside");
	assert_true(fd_holds(open_link(&fixture, &image, "object.dbg"), "beside"));
	assert_int_equal(open_link(&fixture, &image, "../../etc/passwd"), -ENOENT);
	assert_int_equal(open_link(&fixture, &image, ".."), -ENOENT);
	assert_int_equal(open_link(&fixture, &image, "absent"), -ENOENT);
	tear_down(&fixture);
}

static void debug_file_is_found_by_build_id(void **state)
{
	static const char folder[] = "/usr/lib/debug/.build-id/ee";
	static const uint8_t build_id[] = {0xee, 0xe1, 0x17, 0x00, 0xff};
	struct el_debug_request request = {.build_id = build_id, .build_id_size = 5};
	struct el_image image = image_of(getpid(), 1);
	struct with_fetcher with;

	(void)state;
	if (geteuid())
		skip_because("needs root");
	with_fetcher_start(&with);
	assert_int_equal(with.source.open_debug(with.source.context, &image, &request), -ENOENT);
	mkdir("/usr/lib/debug", 0755);
	mkdir("/usr/lib/debug/.build-id", 0755);
	mkdir(folder, 0755);
	file_write(folder, "e11700ff.debug", "by build id");
	assert_true(fd_holds(with.source.open_debug(with.source.context, &image, &request),
			     "by build id"));
	unlink("/usr/lib/debug/.build-id/ee/e11700ff.debug");
	rmdir(folder);
	with_fetcher_end(&with);
}

static void kallsyms_is_given(void **state)
{
	struct with_fetcher with;
	char text[64];
	int fd;

	(void)state;
	with_fetcher_start(&with);
	fd = with.source.open_kallsyms(with.source.context);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text)) == sizeof(text));
	close(fd);
	with_fetcher_end(&with);
}

static void memory_is_read_up_to_the_unreadable_page(void **state)
{
	struct with_fetcher with;
	struct el_image image = image_of(getpid(), 1);
	size_t size = 20u << 20;
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *read_bytes = malloc(size);
	uintptr_t addr = (uintptr_t)bytes;

	(void)state;
	memset(bytes, 'x', size);
	bytes[size - 5000] = 'y';
	with_fetcher_start(&with);
	assert_int_equal(
		with.source.read_memory(with.source.context, &image, addr, read_bytes, size), size);
	assert_memory_equal(bytes, read_bytes, size);
	munmap(bytes + size - 4096, 4096);
	assert_int_equal(
		with.source.read_memory(with.source.context, &image, addr, read_bytes, size),
		size - 4096);
	assert_int_equal(with.source.read_memory(with.source.context, &image, addr + size - 4096,
						 read_bytes, 16),
			 -EFAULT);
	assert_int_equal(with.source.read_memory(with.source.context, &image, UINT64_MAX - 4,
						 read_bytes, 16),
			 -EINVAL);
	with_fetcher_end(&with);
	free(read_bytes);
	munmap(bytes, size - 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(living_process_gives_its_file),
		cmocka_unit_test(deleted_and_replaced_file_comes_through_the_mapping),
		cmocka_unit_test(dead_process_whose_file_remains_is_found_by_path),
		cmocka_unit_test(reused_pid_is_taken_for_dead),
		cmocka_unit_test(what_is_no_regular_file_is_refused),
		cmocka_unit_test(anonymous_and_vdso_mappings_have_no_file),
		cmocka_unit_test(debug_file_is_found_beside_the_object),
		cmocka_unit_test(debug_file_is_found_by_build_id),
		cmocka_unit_test(kallsyms_is_given),
		cmocka_unit_test(memory_is_read_up_to_the_unreadable_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
