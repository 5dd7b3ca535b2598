# SPDX-License-Identifier: Apache-2.0
"""Periodic dumps of the whole machine at 99 Hz beside a storm of short-lived
processes: memory, CPU and windows over BENCH_SOAK_SECONDS (3600 for the full hour)."""
import os
import signal
import time

import bench
from bench import cpu_seconds, family, memory, row
from everline import EVERLINE, build, scratch, start, stop
from pprof import Profile

SECONDS = int(os.environ.get("BENCH_SOAK_SECONDS", "120"))
EVERY = max(5, SECONDS // 60)

folder = os.path.join(scratch(), "soak")
storm = start(build("storm", "storm.c"), str(SECONDS + 60))
recorder = start(EVERLINE, "record", "-a", "-F", "99", "--every", str(EVERY), "--keep", "5", "--report", "lines,functions",
                 "-o", folder)
began = time.monotonic()
seen = []
while time.monotonic() - began < SECONDS and recorder.poll() is None:
    time.sleep(2)
    mine = family(recorder.pid)
    seen.append(sum(memory(pid) for pid in mine))
    cpu = sum(cpu_seconds(pid) for pid in mine)
alive = recorder.poll() is None
recorder.send_signal(signal.SIGINT)
recorder.wait(timeout=30)
stop(storm)
names = sorted(name for name in os.listdir(folder) if name[0].isdigit())
profiles = [Profile.load(os.path.join(folder, name, "profile.pb.gz")) for name in names]
gaps = [b.time_nanos - a.time_nanos - a.duration_nanos for a, b in zip(profiles, profiles[1:])]
quarter = len(seen) // 4
early, late = max(seen[quarter:2 * quarter]), max(seen[3 * quarter:])
row(f"{SECONDS} s of -a at 99 Hz beside an exec storm: still recording", "yes", "yes" if alive else "no", alive)
row("resident memory, second quarter and last quarter", "level", f"{early >> 20} and {late >> 20} MiB",
    late <= early * 1.1 + (4 << 20))
row("resident memory, peak over all its processes", "", f"{max(seen) >> 20} MiB")
row("gaps between the kept windows", "0 ns", " ".join(map(str, gaps)), not any(gaps))
row("own CPU, share of one core", "", f"{cpu / SECONDS:.1%}")
lost = sum(p.counters["lost ring"] + p.counters["side-band lost"] for p in profiles)
row("lost in the kept windows", "0", str(lost), lost == 0)
bench.end()
