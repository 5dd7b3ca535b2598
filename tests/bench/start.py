# SPDX-License-Identifier: Apache-2.0
"""What a start costs: CPU seconds until the first sample can come, and how long that takes."""
import os
import shutil
import time

import bench
from bench import ROUNDS, row, skipped, spread
from everline import EVERLINE, build, record, run, scratch, start, stop

service = start(build("service", "service.c", flags=("-O2", "-g", "-D_GNU_SOURCE")), ready="ready")
cpu, first = [], []
for _ in range(ROUNDS):
    began = time.time()
    result, profile = record("-F", 999, "-d", 0.05, "-p", service.pid)
    # The events are on at the profile's start; a sample follows within a period of the busy CPU.
    first.append(profile.time_nanos / 1e9 - began + profile.period / 1e9)
    bare = run(EVERLINE, "record", "-d", "0.01", "-o", os.path.join(scratch(), "none.pb.gz"), "--", "true").ok()
    cpu.append(bare.cpu)
stop(service)
row("start: CPU of a whole `record -- true`", "<= 0.15 s", spread(cpu) + " s", sorted(cpu)[len(cpu) // 2] <= 0.15)
row("start: launch to first sample", "<= 0.3 s", spread(first) + " s", sorted(first)[len(first) // 2] <= 0.3)
if shutil.which("perf"):
    peer = [run("perf", "record", "-q", "-B", "-N", "-a", "-g", "-e", "cpu-clock", "-o", os.path.join(scratch(), "none.data"), "--",
                "true").cpu for _ in range(ROUNDS)]
    row("start: CPU of a whole `perf record -a -- true`", "", spread(peer) + " s")
else:
    skipped("start: CPU of perf", "not installed")
bench.end()
