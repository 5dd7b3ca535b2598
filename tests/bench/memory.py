# SPDX-License-Identifier: Apache-2.0
"""Resident memory of the recorder and its processes, with and without DWARF,
and whether the parser gives it back."""
import os
import shutil
import signal
import struct
import time

import bench
from bench import family, memory, row, skipped
from everline import EVERLINE, Failure, Skip, build, run, scratch, start, stop

MIB = 1 << 20


def debug_info_size(path):
    with open(path, "rb") as f:
        elf = f.read()
    start_at, = struct.unpack_from("<Q", elf, 0x28)
    size, n, names = struct.unpack_from("<3H", elf, 0x3A)
    headers = [struct.unpack_from("<I12xQQQ", elf, start_at + i * size) for i in range(n)]
    for name, _, _, length in headers:
        at = headers[names][2] + name
        if elf[at:elf.index(b"\0", at)] == b".debug_info":
            return length
    return 0


def profiled(program, *args):
    """Peaks of (the recorder, the largest of its processes) over windows on one program; then the latter when idle."""
    service = start(program, *args)
    time.sleep(0.5)
    recorder = start(EVERLINE, "record", "-F", "499", "-p", str(service.pid), "--every", "1", "--keep", "2", "-o",
                     os.path.join(scratch(), "memory"))
    time.sleep(6)
    mine = family(recorder.pid) - {recorder.pid}
    own = memory(recorder.pid, "VmHWM")
    parser = max((memory(pid, "VmHWM") for pid in mine), default=0)
    service.send_signal(signal.SIGSTOP)
    time.sleep(6)
    idle = max((memory(pid, "VmRSS") for pid in mine), default=0)
    recorder.send_signal(signal.SIGINT)
    recorder.wait(timeout=20)
    stop(recorder)
    stop(service)
    return own, parser, idle


stripped = os.path.join(scratch(), "stripped")
shutil.copy(build("service", "service.c", flags=("-O2", "-g", "-D_GNU_SOURCE")), stripped)
run("strip", stripped).ok()
own, parser, idle = profiled(stripped)
row("resident memory without DWARF: recorder", "<= 40 MiB", f"{own / MIB:.1f} MiB", own <= 40 * MIB)
row("resident memory without DWARF: largest other process", "<= 40 MiB", f"{parser / MIB:.1f} MiB", parser <= 40 * MIB)
try:
    rusty = build("rusty-legacy", "rusty.rs", compiler="rustc", flags=("-O", "-g", "-Cforce-frame-pointers=yes"))
    size = debug_info_size(rusty)
    limit = 30 * MIB + size
    own, parser, idle = profiled(rusty, "30000")
    row(f"resident memory of the parser, .debug_info {size / MIB:.1f} MiB", f"<= {limit / MIB:.0f} MiB",
        f"{parser / MIB:.1f} MiB", parser <= limit)
    row("the same when the target is idle", "given back", f"{idle / MIB:.1f} MiB", idle <= 30 * MIB)
except (Failure, Skip) as reason:
    skipped("resident memory with DWARF", str(reason)[:60])
bench.end()
