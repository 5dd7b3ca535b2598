# SPDX-License-Identifier: Apache-2.0
"""The recorder's own CPU per 1000 samples, symbols included, and what it wakes on an idle machine."""
import os
import shutil

import bench
from bench import row, skipped
from everline import PYTHON, build, record, run, scratch, start, stop

SCRIPT = """
import json, re
text = json.dumps([{"a": i, "b": [str(i)] * 5} for i in range(3000)])
print("ready", flush=True)
while True:
    for value in json.loads(text): re.sub("1", "2", str(value))
"""

busy = [start(PYTHON, "-c", SCRIPT, ready="ready"),
        start(build("service", "service.c", flags=("-O2", "-g", "-D_GNU_SOURCE")), ready="ready")]
targets = ",".join(str(process.pid) for process in busy)
# What a recording costs before it has samples is a figure of its own: start.py.
start_cpu = min(record("-d", 0.02, "-p", targets)[0].cpu for _ in range(3))
for hz, seconds in ((99, 15), (997, 15)):
    result, profile = record("-F", hz, "-d", seconds, "-p", targets, timeout=120)
    per_1000 = (result.cpu - start_cpu) / profile.total() * 1000
    row(f"own CPU per 1000 samples, symbols included, at {hz} Hz ({profile.total()})", "<= 0.02 s" if hz == 997 else "",
        f"{per_1000:.4f} s, with the start {result.cpu / profile.total() * 1000:.4f}", per_1000 <= 0.02 if hz == 997 else None)
    if shutil.which("perf"):
        data = os.path.join(scratch(), "agent.data")
        peer = run("perf", "record", "-q", "-B", "-N", "-a", "-g", "-e", "cpu-clock", "-F", str(hz), "-o", data, "--", "sleep",
                   str(seconds), timeout=120)
        shown = run("perf", "report", "-i", data, "--stdio", "-g", "none", timeout=240)
        n = run("perf", "script", "-i", data, "-F", "pid", timeout=240).out.split()
        if n:
            row(f"perf record + report at {hz} Hz, {len(n)} samples", "",
                f"{(peer.cpu + shown.cpu) / len(n) * 1000:.4f} s")
        else:
            skipped(f"perf at {hz} Hz", peer.err.strip()[:60] or "no samples")
    else:
        skipped(f"perf at {hz} Hz", "not installed")
for process in busy:
    stop(process)

result, profile = record("-a", "-d", 10)
idle = profile.counters["ran idle"] / 10 / max(1, os.cpu_count())
row("ticks on an idle CPU, per CPU and second, -a at 99 Hz", "", f"{idle:.1f}")
row("own CPU share of one core, -a at 99 Hz, 10 s", "", f"{result.cpu / result.seconds:.2%}")
bench.end()
