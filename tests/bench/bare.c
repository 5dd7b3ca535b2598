/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: a cpu-clock event on every CPU, and nothing that reads it. Holds
 * them until its stdin ends. Usage: bare HZ
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000u / (argc > 1 ? strtoul(argv[1], NULL, 10) : 99),
	};
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char byte;

	for (long cpu = 0; cpu < n_cpus; cpu++) {
		if (syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC) <
		    0) {
			perror("perf_event_open");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
