/* SPDX-License-Identifier: Apache-2.0 */
/* See numba_zip.h. */
#include "user/numba_zip.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buffer.h"

#define MEMBER "sitecustomize.py"
#define ZIP_DATE 0x5c21 /* 2026-01-01: any will do, none is not allowed */

__asm__(".pushsection .rodata\n"
	".global el_numba_hook, el_numba_hook_end\n"
	"el_numba_hook: .incbin \"user/numba_hook/sitecustomize.py\"\n"
	"el_numba_hook_end: .byte 0\n"
	".popsection\n");
extern const char el_numba_hook[], el_numba_hook_end[];

static void add_u16(struct el_buffer *zip, uint16_t value)
{
	el_buffer_add(zip, &value, sizeof(value));
}

/* What the local header and the central directory both say of the member. */
static void add_member(struct el_buffer *zip, uint32_t size)
{
	add_u16(zip, 10); /* version needed */
	add_u16(zip, 0);  /* flags */
	add_u16(zip, 0);  /* stored */
	add_u16(zip, 0);  /* time */
	add_u16(zip, ZIP_DATE);
	el_buffer_add_u32(zip, crc32(0, (const Bytef *)el_numba_hook, size));
	el_buffer_add_u32(zip, size);
	el_buffer_add_u32(zip, size);
	add_u16(zip, sizeof(MEMBER) - 1);
	add_u16(zip, 0); /* extra field */
}

static void build(struct el_buffer *zip)
{
	uint32_t size = el_numba_hook_end - el_numba_hook;
	uint32_t directory, directory_size;

	el_buffer_add_u32(zip, 0x04034b50);
	add_member(zip, size);
	el_buffer_add(zip, MEMBER, sizeof(MEMBER) - 1);
	el_buffer_add(zip, el_numba_hook, size);

	directory = zip->bytes.n;
	el_buffer_add_u32(zip, 0x02014b50);
	add_u16(zip, 10); /* made by */
	add_member(zip, size);
	add_u16(zip, 0);           /* comment */
	add_u16(zip, 0);           /* disk */
	add_u16(zip, 0);           /* internal attributes */
	el_buffer_add_u32(zip, 0); /* external attributes */
	el_buffer_add_u32(zip, 0); /* offset of the local header */
	el_buffer_add(zip, MEMBER, sizeof(MEMBER) - 1);
	directory_size = zip->bytes.n - directory;

	el_buffer_add_u32(zip, 0x06054b50);
	add_u16(zip, 0); /* disks */
	add_u16(zip, 0);
	add_u16(zip, 1); /* members */
	add_u16(zip, 1);
	el_buffer_add_u32(zip, directory_size);
	el_buffer_add_u32(zip, directory);
	add_u16(zip, 0); /* comment */
}

int el_numba_zip_open(void)
{
	struct el_buffer zip = {0};
	int fd = memfd_create("everline-numba-hook", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	if (!err) {
		build(&zip);
		err = zip.err;
	}
	if (!err && write(fd, zip.bytes.at, zip.bytes.n) != (ssize_t)zip.bytes.n)
		err = -EIO;
	el_buffer_deinit(&zip);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}
