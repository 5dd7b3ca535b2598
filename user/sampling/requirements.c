/* SPDX-License-Identifier: Apache-2.0 */
/* See requirements.h. Minimum kernel 5.15: bpf_task_pt_regs() and BPF links of perf events. */
#include "user/sampling/requirements.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "user/sampling/events.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define INITIAL_PID_NAMESPACE "pid:[4026531836]" /* PROC_PID_INIT_INO of linux/proc_ns.h */
#define FDS_A_CPU 3                              /* event, its link, side-band */
#define FDS_BESIDES 48 /* maps, programs, links; files the rest of us opens */

static int check_kernel(struct el_error *error)
{
	struct utsname name;
	unsigned int major = 0, minor = 0;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return 0; /* unreadable: the load will tell */
	if (major < 5 || (major == 5 && minor < 15))
		return el_error_set(error, -EOPNOTSUPP,
				    "this kernel is %s; Linux 5.15 or newer is needed",
				    name.release);
	if (access(BTF_PATH, R_OK))
		return el_error_set(
			error, -EOPNOTSUPP,
			"cannot read %s: %s. The kernel must be built with "
			"CONFIG_DEBUG_INFO_BTF=y (the kernels of all large distributions are)",
			BTF_PATH, strerror(errno));
	return 0;
}

static bool capable(const struct __user_cap_data_struct *sets, int capability)
{
	return sets[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

static int check_capabilities(struct el_error *error)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, sets))
		return 0;
	if (capable(sets, CAP_SYS_ADMIN) || (capable(sets, CAP_BPF) && capable(sets, CAP_PERFMON)))
		return 0;
	return el_error_set(error, -EPERM,
			    "profiling needs root, or the capabilities CAP_BPF and CAP_PERFMON%s: "
			    "run it with sudo",
			    capable(sets, CAP_BPF)       ? " (CAP_PERFMON is missing)"
			    : capable(sets, CAP_PERFMON) ? " (CAP_BPF is missing)"
							 : "");
}

static int check_pid_namespace(struct el_error *error)
{
	char namespace[64] = "";

	if (readlink("/proc/self/ns/pid", namespace, sizeof(namespace) - 1) <= 0 ||
	    !strcmp(namespace, INITIAL_PID_NAMESPACE))
		return 0;
	return el_error_set(error, -EOPNOTSUPP,
			    "process ids here are not those of the host (%s), and the kernel "
			    "samples by the host's: "
			    "run it outside the container, or in one started with --pid=host",
			    namespace);
}

static int check_descriptors(size_t n_cpus, struct el_error *error)
{
	rlim_t wanted = FDS_BESIDES + n_cpus * FDS_A_CPU;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return 0;
	limit.rlim_cur = limit.rlim_max;
	if (wanted <= limit.rlim_max && !setrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return el_error_set(
		error, -EMFILE,
		"%zu CPUs need %llu open files and the limit is %llu: raise it with ulimit -n %llu",
		n_cpus, (unsigned long long)wanted, (unsigned long long)limit.rlim_max,
		(unsigned long long)wanted);
}

int el_requirements_check(size_t n_cpus, struct el_error *error)
{
	int err = check_kernel(error);

	if (!err)
		err = check_capabilities(error);
	if (!err)
		err = check_pid_namespace(error);
	return err ? err : check_descriptors(n_cpus, error);
}

int el_perf_error(int err, const char *step, const struct el_event_type *event, int cpu,
		  struct el_error *error)
{
	const char *name = event ? event->name : "side-band";

	switch (err) {
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		return el_error_set(
			error, err,
			"this machine has no '%s' event (virtual machines often have no hardware "
			"counters): use -e cpu, which works everywhere",
			name);
	case -EACCES:
	case -EPERM:
		return el_error_set(
			error, err,
			"%s of the %s event on CPU %d was refused: it needs root or CAP_PERFMON, "
			"and for "
			"its ring either CAP_IPC_LOCK or a large enough kernel.perf_event_mlock_kb",
			step, name, cpu);
	case -EMFILE:
	case -ENFILE:
		return el_error_set(error, err,
				    "too few open files for the events of all CPUs: raise the "
				    "limit with ulimit -n");
	case -ENOMEM:
		return el_error_set(error, err,
				    "too little memory for the ring of the %s event on CPU %d",
				    name, cpu);
	case -EBUSY:
		return el_error_set(error, err,
				    "the '%s' counter of CPU %d is taken by someone else", name,
				    cpu);
	default:
		return el_error_set(error, err, "%s of the %s event on CPU %d failed: %s", step,
				    name, cpu, strerror(-err));
	}
}

int el_bpf_error(int err, const char *step, const char *said, struct el_error *error)
{
	const char *between = *said ? ". libbpf: " : "";

	switch (err) {
	case -EPERM:
	case -EACCES:
		return el_error_set(error, err,
				    "the kernel refused to %s the BPF programs: root or CAP_BPF "
				    "and CAP_PERFMON are "
				    "needed, and a locked-down kernel may forbid it altogether%s%s",
				    step, between, said);
	case -ENOMEM:
		return el_error_set(error, err,
				    "too little memory to %s the BPF programs and their maps: free "
				    "some, or raise the "
				    "memory limit of this container%s%s",
				    step, between, said);
	case -EMFILE:
	case -ENFILE:
		return el_error_set(error, err,
				    "too few open files to %s the BPF programs: raise the limit "
				    "with ulimit -n%s%s",
				    step, between, said);
	default:
		return el_error_set(error, err, "cannot %s the BPF programs: %s%s%s", step,
				    strerror(-err), between, said);
	}
}
