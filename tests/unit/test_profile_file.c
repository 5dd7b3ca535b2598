/* SPDX-License-Identifier: Apache-2.0 */
/* Files are there whole or not at all, and every refusal says what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/skip.h"
#include "user/profile/file.h"

static char folder[] = "/tmp/test_profile_file.XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder); /* fails when a test left a file behind */
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int n_files(void)
{
	DIR *listing = opendir(folder);
	const struct dirent *entry;
	int n = 0;

	while ((entry = readdir(listing)))
		n += *entry->d_name != '.';
	closedir(listing);
	return n;
}

static void assert_content(const char *path, const char *wanted)
{
	struct el_buffer content = {0};
	struct el_error error;

	assert_int_equal(el_file_read(path, 1 << 20, &content, &error), 0);
	assert_int_equal(content.bytes.n, strlen(wanted));
	assert_memory_equal(content.bytes.at, wanted, strlen(wanted));
	el_buffer_deinit(&content);
}

static void new_file_is_private_and_alone(void **state)
{
	const char *path = path_of("new");
	struct el_error error;
	struct stat stat_;

	(void)state;
	assert_int_equal(el_file_replace(path, "one", 3, &error), 0);
	assert_content(path, "one");
	assert_int_equal(stat(path, &stat_), 0);
	assert_int_equal(stat_.st_mode & 07777, 0600);
	assert_int_equal(n_files(), 1);
	unlink(path);
}

static void old_file_is_replaced_whole(void **state)
{
	const char *path = path_of("old");
	struct el_error error;

	(void)state;
	assert_int_equal(el_file_replace(path, "a long content", 14, &error), 0);
	assert_int_equal(el_file_replace(path, "short", 5, &error), 0);
	assert_content(path, "short");
	assert_int_equal(n_files(), 1);
	unlink(path);
}

static void link_is_replaced_and_its_target_is_left_alone(void **state)
{
	char target[256];
	struct el_error error;
	struct stat stat_;
	const char *path;

	(void)state;
	strcpy(target, path_of("target"));
	assert_int_equal(el_file_replace(target, "precious", 8, &error), 0);
	path = path_of("link");
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(el_file_replace(path, "new", 3, &error), 0);
	assert_content(target, "precious");
	assert_int_equal(lstat(path, &stat_), 0);
	assert_true(S_ISREG(stat_.st_mode));
	unlink(path);
	unlink(target);
}

static void device_is_written_to_and_stays_a_device(void **state)
{
	struct el_error error;
	struct stat stat_;

	(void)state;
	assert_int_equal(el_file_replace("/dev/null", "x", 1, &error), 0);
	assert_int_equal(stat("/dev/null", &stat_), 0);
	assert_true(S_ISCHR(stat_.st_mode));
}

static void full_device_is_named_with_what_to_do(void **state)
{
	struct el_error error = {0};

	(void)state;
	assert_int_equal(el_file_replace("/dev/full", "x", 1, &error), -ENOSPC);
	assert_non_null(strstr(error.text, "/dev/full"));
	assert_non_null(strstr(error.text, "free some space"));
}

static void full_disk_leaves_the_old_file_and_nothing_else(void **state)
{
	static char big[256 << 10];
	const char *path = path_of("kept");
	struct el_error error = {0};

	(void)state;
	if (mount("none", folder, "tmpfs", 0, "size=64k"))
		skip_because("mounting is not allowed here");
	assert_int_equal(el_file_replace(path, "old", 3, &error), 0);
	assert_int_equal(el_file_replace(path, big, sizeof(big), &error), -ENOSPC);
	assert_content(path, "old");
	assert_int_equal(n_files(), 1);
	assert_int_equal(umount(folder), 0);
}

static void missing_folder_and_folder_are_refused(void **state)
{
	struct el_error error = {0};

	(void)state;
	assert_int_equal(el_file_replace(path_of("no/where"), "x", 1, &error), -ENOENT);
	assert_non_null(strstr(error.text, "folder must exist"));
	assert_int_equal(el_file_replace(folder, "x", 1, &error), -EISDIR);
}

/* In a child: the rights are given up for good there. */
static void folder_without_permission_is_refused(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (getuid())
		skip_because("only root can become nobody");
	chmod(folder, 0700);
	child = fork();
	if (!child) {
		struct el_error error = {0};
		int err;

		if (setgid(65534) || setuid(65534))
			_exit(2);
		err = el_file_replace(path_of("secret"), "x", 1, &error);
		_exit(err == -EACCES && strstr(error.text, "can be written") ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(n_files(), 0);
}

static void file_over_the_limit_is_refused_unread(void **state)
{
	const char *path = path_of("sparse");
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	struct el_buffer content = {0};
	struct el_error error = {0};

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	close(fd);
	assert_int_equal(el_file_read(path, 1 << 20, &content, &error), -EFBIG);
	assert_non_null(strstr(error.text, "larger than 1 MiB"));
	assert_int_equal(content.bytes.n, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(el_file_read(path_of("absent"), 1 << 20, &content, &error), -ENOENT);
	assert_non_null(strstr(error.text, "absent"));
}

static void pipe_over_the_limit_is_refused(void **state)
{
	static const char bytes[4096];
	struct el_buffer content = {0};
	struct el_error error = {0};
	char path[64];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	assert_int_equal(el_file_read(path, 1024, &content, &error), -EFBIG);
	close(ends[0]);
	el_buffer_deinit(&content);
}

static void endless_device_is_refused_unread(void **state)
{
	struct el_buffer content = {0};
	struct el_error error = {0};

	(void)state;
	assert_int_equal(el_file_read("/dev/zero", 1 << 20, &content, &error), -ENXIO);
	assert_non_null(strstr(error.text, "device"));
	assert_int_equal(content.bytes.n, 0);
}

static void killed_while_writing_leaves_nothing(void **state)
{
	static char big[64 << 20];
	struct el_error error;

	(void)state;
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		if (!child)
			_exit(el_file_replace(path_of("torn"), big, sizeof(big), &error) ? 1 : 0);
		usleep(1000 * i);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (!access(path_of("torn"), F_OK)) {
			struct stat stat_;

			assert_int_equal(stat(path_of("torn"), &stat_), 0);
			assert_int_equal(stat_.st_size, sizeof(big));
			unlink(path_of("torn"));
		}
		assert_int_equal(n_files(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_file_is_private_and_alone),
		cmocka_unit_test(old_file_is_replaced_whole),
		cmocka_unit_test(link_is_replaced_and_its_target_is_left_alone),
		cmocka_unit_test(device_is_written_to_and_stays_a_device),
		cmocka_unit_test(full_device_is_named_with_what_to_do),
		cmocka_unit_test(full_disk_leaves_the_old_file_and_nothing_else),
		cmocka_unit_test(missing_folder_and_folder_are_refused),
		cmocka_unit_test(folder_without_permission_is_refused),
		cmocka_unit_test(file_over_the_limit_is_refused_unread),
		cmocka_unit_test(pipe_over_the_limit_is_refused),
		cmocka_unit_test(endless_device_is_refused_unread),
		cmocka_unit_test(killed_while_writing_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
