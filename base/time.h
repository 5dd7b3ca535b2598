/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's clocks as nanoseconds, the unit of every time in this program. */
#ifndef EL_BASE_TIME_H
#define EL_BASE_TIME_H

#include <stdint.h>
#include <time.h>

#define EL_NS_PER_S 1000000000ull
#define EL_NS_PER_MS 1000000ull

static inline uint64_t el_clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * EL_NS_PER_S + (uint64_t)time.tv_nsec;
}

/* The clock of samples, records and deadlines. */
static inline uint64_t el_now_ns(void)
{
	return el_clock_ns(CLOCK_MONOTONIC);
}

#endif
