# SPDX-License-Identifier: Apache-2.0
"""What a target pays per sample, beside a bare cpu-clock event, perf and
bpftrace, in interleaved rounds; and whether 99 Hz can be felt at all."""
import os
import shutil
import statistics
import subprocess

import bench
from bench import ROUNDS, row, skipped, spread
from everline import EVERLINE, build, run, scratch

HERE = os.path.dirname(os.path.abspath(__file__))
DEPTH = "20"
WORK = "600000"

deep = build("deep", os.path.join(HERE, "deep.c"), flags=("-O2", "-g", "-fno-omit-frame-pointer"))
bare = build("bare", os.path.join(HERE, "bare.c"), flags=("-O2",))


def alone(_):
    return (), None


def with_bare(hz):
    return (), [bare, str(hz)]


def with_everline(hz):
    return (EVERLINE, "record", "-F", str(hz), "-o", os.path.join(scratch(), "cost.pb.gz"), "--"), None


def with_perf(hz):
    return ("perf", "record", "-q", "-B", "-N", "-a", "-e", "cpu-clock", "-c", str(10**9 // hz), "-g", "-o",
            os.path.join(scratch(), "cost.data"), "--"), None


def with_bpftrace(hz):
    return (), ["bpftrace", "-e", f'profile:hz:{hz} /comm == "deep"/ {{ @[ustack] = count(); }} BEGIN {{ printf("ready\\n"); }}']


def cpu_ns(way, hz):
    """CPU time of the fixed work under one way of being profiled."""
    prefix, companion = way(hz)
    process = None
    if companion:
        process = subprocess.Popen(companion, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in process.stdout:
            if b"ready" in line:
                break
    result = run(*prefix, deep, DEPTH, WORK, timeout=120).ok()
    if process:
        process.stdin.close()
        process.terminate()
        process.wait()
        process.stdout.close()
    return int(next(line for line in result.out.splitlines() if line.isdigit()))


def rounds(hz, ways, n):
    took = {way: [] for way in ways}
    for _ in range(n):
        for way in ways:
            took[way].append(cpu_ns(way, hz))
    return took


peers = [way for way, tool in ((with_perf, "perf"), (with_bpftrace, "bpftrace")) if shutil.which(tool)]
took = rounds(9973, [alone, with_bare, with_everline, *peers], ROUNDS)
added = {}
for way, times in took.items():
    if way is alone:
        continue
    # Ticks that hit the target: its CPU time in periods.
    added[way] = [(t - a) / (t * 9973 / 1e9) / 1e3 for t, a in zip(times, took[alone])]
    row(f"added target CPU per sample at 9973 Hz, {way.__name__[5:]}", "", spread(added[way], "{:.1f}") + " us")
ratio = statistics.median(added[with_everline]) / statistics.median(added[with_bare])
row("added target CPU per sample, everline / bare event", "<= 1.4", f"{ratio:.2f}", ratio <= 1.4)
for way, tool in ((with_perf, "perf"), (with_bpftrace, "bpftrace")):
    if way in added:
        row(f"added target CPU per sample, everline / {tool}", "",
            f"{statistics.median(added[with_everline]) / statistics.median(added[way]):.2f}")
    else:
        skipped(f"added target CPU per sample, {tool}", "not installed")

took = rounds(99, [alone, with_everline], ROUNDS)
ratios = [t / a for t, a in zip(took[with_everline], took[alone])]
noise = statistics.pstdev(took[alone]) / statistics.mean(took[alone])
difference = statistics.median(took[with_everline]) / statistics.median(took[alone]) - 1
row("target CPU at 99 Hz, profiled / alone", "within noise", f"{spread(ratios, '{:.4f}')}, noise {noise:.2%}",
    difference <= max(2 * noise, 0.005))
bench.end()
