/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages on demand. Large pieces are anonymous mappings, whose untouched pages
 * cost nothing; small ones are malloc'ed exactly, so that a sanitizer sees an
 * access past their end.
 */
#include "symbolizer/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u
#define MAPPED_FROM (256u << 10)
#define STRING_MAX (1u << 20)

int el_bytes_init_fd(struct el_bytes *bytes, int fd)
{
	struct stat st;

	*bytes = (struct el_bytes){.fd = fd};
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	bytes->size = st.st_size;
	return 0;
}

void el_bytes_init_memory(struct el_bytes *bytes, void *memory, size_t size)
{
	*bytes = (struct el_bytes){.fd = -1, .memory = memory, .size = size};
}

void el_bytes_deinit(struct el_bytes *bytes)
{
	if (bytes->fd >= 0)
		close(bytes->fd);
	free(bytes->memory);
	*bytes = (struct el_bytes){.fd = -1};
}

int el_bytes_read(struct el_bytes *bytes, uint64_t off, void *ret, size_t size)
{
	uint8_t *at = ret;
	ssize_t n;

	if (off > bytes->size || size > bytes->size - off)
		return -EIO;
	if (bytes->memory) {
		memcpy(ret, bytes->memory + off, size);
		return 0;
	}
	if (bytes->fd < 0) {
		bytes->fd = bytes->reopen ? bytes->reopen(bytes->context) : -EBADF;
		if (bytes->fd < 0) {
			int err = bytes->fd;

			bytes->fd = -1;
			return err;
		}
	}
	while (size) {
		n = pread(bytes->fd, at, size, off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		at += n;
		off += n;
		size -= n;
	}
	return 0;
}

int el_piece_init(struct el_piece *piece, struct el_bytes *bytes, uint64_t off, size_t size)
{
	size_t n_pages = size / PAGE + 1;

	if (off > bytes->size || size > bytes->size - off)
		return -EINVAL;
	*piece = (struct el_piece){.bytes = bytes, .off = off, .size = size};
	if (bytes->memory) {
		piece->at = bytes->memory + off;
		piece->bytes = NULL;
		piece->borrowed = true;
		return 0;
	}
	piece->mapped = size >= MAPPED_FROM;
	piece->loaded = calloc(1, n_pages / 8 + 1);
	if (piece->mapped)
		piece->at = mmap(NULL, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	else
		piece->at = malloc(size ? size : 1);
	if (piece->at == MAP_FAILED)
		piece->at = NULL;
	if (!piece->at || !piece->loaded) {
		el_piece_deinit(piece);
		return -ENOMEM;
	}
	return 0;
}

void el_piece_init_whole(struct el_piece *piece, uint8_t *at, size_t size)
{
	*piece = (struct el_piece){.at = at, .size = size};
}

void el_piece_deinit(struct el_piece *piece)
{
	if (piece->mapped && piece->at)
		munmap(piece->at, piece->size);
	else if (!piece->borrowed)
		free(piece->at);
	free(piece->loaded);
	*piece = (struct el_piece){0};
}

static bool page_is_loaded(const struct el_piece *piece, size_t page)
{
	return piece->loaded[page / 8] >> (page % 8) & 1;
}

/* Reads the pages [first, last], neighbours in one go. */
static int load_pages(struct el_piece *piece, size_t first, size_t last)
{
	size_t page, begin, size;
	int err;

	for (page = first; page <= last; page++) {
		if (page_is_loaded(piece, page))
			continue;
		for (begin = page; page < last && !page_is_loaded(piece, page + 1);)
			page++;
		size = (page + 1) * (size_t)PAGE;
		size = (size < piece->size ? size : piece->size) - begin * PAGE;
		err = el_bytes_read(piece->bytes, piece->off + begin * PAGE,
				    piece->at + begin * PAGE, size);
		if (err)
			return err;
		piece->n_loaded += page - begin + 1;
		for (; begin <= page; begin++)
			piece->loaded[begin / 8] |= 1 << (begin % 8);
	}
	return 0;
}

const uint8_t *el_piece_range(struct el_piece *piece, uint64_t off, size_t size)
{
	if (off > piece->size || size > piece->size - off || !piece->at)
		return NULL;
	if (piece->bytes && size && load_pages(piece, off / PAGE, (off + size - 1) / PAGE))
		return NULL;
	return piece->at + off;
}

const char *el_piece_string(struct el_piece *piece, uint64_t off)
{
	uint64_t at = off;
	size_t left;

	while (at < piece->size && at - off < STRING_MAX) {
		left = PAGE - at % PAGE;
		left = left < piece->size - at ? left : piece->size - at;
		if (!el_piece_range(piece, at, left))
			return NULL;
		if (memchr(piece->at + at, 0, left))
			return (const char *)piece->at + off;
		at += left;
	}
	return NULL;
}

size_t el_piece_resident(const struct el_piece *piece)
{
	if (!piece->at || piece->borrowed)
		return 0;
	if (!piece->bytes || !piece->mapped)
		return piece->size;
	return piece->n_loaded * (size_t)PAGE;
}
