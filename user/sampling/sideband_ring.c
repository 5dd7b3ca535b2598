/* SPDX-License-Identifier: Apache-2.0 */
/* See sideband_ring.h. The ring's protocol is that of struct perf_event_mmap_page in
 * linux/perf_event.h. */
#include "user/sampling/sideband_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MAX_RECORD 65536 /* perf_event_header.size has 16 bits */

int el_sideband_ring_init(struct el_sideband_ring *ring, int cpu, size_t size,
			  const char **ret_step)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.cgroup = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	size_t page = sysconf(_SC_PAGESIZE);
	el_auto_fd int fd = -1;

	*ring = (struct el_sideband_ring){.fd = -1};
	*ret_step = "perf_event_open";
	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_step = "mmap";
	ring->record = malloc(MAX_RECORD);
	if (!ring->record)
		return -ENOMEM;
	ring->memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring->memory == MAP_FAILED) {
		free(el_take_ptr(ring->record));
		ring->memory = NULL;
		return -errno;
	}
	ring->size = size;
	ring->fd = el_take_fd(&fd);
	return 0;
}

void el_sideband_ring_deinit(struct el_sideband_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, sysconf(_SC_PAGESIZE) + ring->size);
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring->record);
	*ring = (struct el_sideband_ring){.fd = -1};
}

int el_sideband_ring_enable(struct el_sideband_ring *ring)
{
	return ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

static void copy_out(const struct el_sideband_ring *ring, uint64_t at, void *bytes, size_t size)
{
	const uint8_t *records = (const uint8_t *)ring->memory + sysconf(_SC_PAGESIZE);
	size_t start = at & (ring->size - 1), first = ring->size - start;

	if (first > size)
		first = size;
	memcpy(bytes, records + start, first);
	memcpy((uint8_t *)bytes + first, records, size - first);
}

int el_sideband_ring_read(struct el_sideband_ring *ring, el_sideband_take *take, void *context,
			  uint64_t *ret_broken)
{
	struct perf_event_mmap_page *page = ring->memory;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
	struct perf_event_header header;
	int err = 0;

	while (tail < head && !err) {
		if (head - tail > ring->size || head - tail < sizeof(header))
			goto broken;
		copy_out(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			goto broken;
		copy_out(ring, tail, ring->record, header.size);
		tail += header.size;
		err = take(context, ring->record, header.size);
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return err;
broken:
	++*ret_broken;
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return 0;
}
