#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares everline-symbolize with llvm-symbolizer and eu-addr2line.

Asks random addresses of .text, compares file:line, inline depth and function
names, lists and classifies the differences, and measures CPU time and memory
of all in one run.
"""
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import bench


def text_section(path):
    out = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    for line in out.splitlines():
        m = re.search(r"\] \.text +PROGBITS +([0-9a-f]+) +([0-9a-f]+) +([0-9a-f]+)", line)
        if m:
            return int(m.group(1), 16), int(m.group(3), 16)
    raise SystemExit(f"{path}: no .text")


def sample(path, n, seed):
    start, size = text_section(path)
    rng = random.Random(seed)
    return [start + rng.randrange(size) for _ in range(n)]


def measure(command, text, keep=True):
    """Output, CPU seconds, peak MB and seconds of one run of a command."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             stdout=subprocess.PIPE if keep else subprocess.DEVNULL)
    threading.Thread(target=lambda: (child.stdin.write(text.encode()), child.stdin.close()),
                     daemon=True).start()
    out = child.stdout.read() if keep else b""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return (out.decode(errors="replace"), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
            time.monotonic() - begin)


def addresses_text(addrs):
    return "".join(f"0x{a:x}\n" for a in addrs)


def parse(text, column):
    """One list of (function, file:line) per address; blocks begin with the address."""
    blocks, block, name = [], None, None
    for line in text.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            block = []
            blocks.append(block)
            name = None
        elif block is None or not line:
            continue
        elif name is None:
            name = line
        else:
            place = re.sub(r" \(discriminator \d+\)$", "", line)
            if column:
                place = re.sub(r":(\d+):\d+$", r":\1", place)
            block.append((name, place))
            name = None
    return blocks


def compact(path):
    """Spelling of folders: './' and 'x/../' mean nothing."""
    file, _, line = path.rpartition(":")
    return os.path.normpath(file) + ":" + line


def classify(ours, theirs):
    if len(ours) != len(theirs):
        if not ours or ours[0][1] == "??:0":
            return "we have nothing"
        if not theirs or theirs[0][1] == "??:0":
            return "they have nothing"
        return "inline depth"
    for (_, a), (_, b) in zip(ours, theirs):
        if compact(a) == compact(b):
            continue
        if a.endswith(":0") and b.endswith(":0"):
            continue  # no line on either side; llvm names the symbol table's file
        if a.rpartition(":")[2] != b.rpartition(":")[2]:
            if a.endswith(":0"):
                return "line 0 with us only"
            if b.endswith(":0"):
                return "line 0 with them only"
            return "line"
        return "file"
    return None


def describe(path):
    return f"{os.path.basename(path)} ({os.path.getsize(path) / 1e6:.0f} MB)"


def compare(tool, path, n):
    addrs = sample(path, n, 1)
    text = addresses_text(addrs)
    ours = parse(measure([tool, "-afiC", "-e", path], text)[0], False)
    theirs = parse(measure(["llvm-symbolizer", "--functions=linkage", "--inlines", "--demangle",
                            "--addresses", "-e", path], text)[0], True)
    if len(ours) != n or len(theirs) != n:
        bench.row(f"{describe(path)}: answers", str(n), f"{len(ours)}, {len(theirs)}", False)
        return
    kinds, depth, place = collections.defaultdict(list), 0, 0
    for addr, a, b in zip(addrs, ours, theirs):
        kind = classify(a, b)
        if kind:
            kinds[kind].append((addr, a, b))
        depth += len(a) == len(b)
        place += bool(a and b and not classify(a[:1], b[:1]))
    bench.row(f"{describe(path)}: file:line equal to llvm-symbolizer", ">= 99.5 %",
              f"{100 * place / n:.2f} % of {n}", place >= 0.995 * n)
    bench.row(f"{describe(path)}: inline depth equal", ">= 99.5 %", f"{100 * depth / n:.2f} %",
              depth >= 0.995 * n)
    for kind, rows in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"    {kind}: {len(rows)}")
        for addr, a, b in rows[:2]:
            print(f"      0x{addr:x}\n        ours   {a}\n        theirs {b}")


def speed(tool, path, sizes):
    rivals = {"everline": [tool, "-fiC", "-e", path],
              "llvm": ["llvm-symbolizer", "-e", path],
              "eu": ["eu-addr2line", "-fiC", "-e", path]}
    cpu = {}
    for n in sizes:
        text = addresses_text(sample(path, n, 2))
        for name, command in rivals.items():
            if not shutil.which(command[0]) or (name == "eu" and n > 1000):
                continue
            runs = [measure(command, text, False) for _ in range(1 if n > 1000 or name == "eu" else 3)]
            best = min(runs, key=lambda run: run[1])
            cpu[name, n] = best[1]
            bench.row(f"{describe(path)}: {name}, {n} addresses", "",
                      f"{best[1]:.3f} CPU s, {best[2]:.0f} MB")
    ratio = cpu["everline", 1000] / cpu["llvm", 1000]
    asked = 2 if path.endswith("_rs") else 1
    bench.row(f"{describe(path)}: 1000 addresses, ours / llvm-symbolizer", f"<= {asked}",
              f"{ratio:.2f}", ratio <= asked)
    if ("eu", 1000) in cpu:
        ratio = cpu["eu", 1000] / cpu["everline", 1000]
        bench.row(f"{describe(path)}: 1000 addresses, eu-addr2line / ours", ">= 10", f"{ratio:.1f}")
    rate = (sizes[-1] - 1000) / max(cpu["everline", sizes[-1]] - cpu["everline", 1000], 1e-3)
    bench.row(f"{describe(path)}: warm addresses a second", ">= 100000", f"{rate:.0f}", rate >= 1e5)


def build_subjects(folder):
    """C++, Rust and Go programs; those without a compiler are left out."""
    here = os.path.dirname(os.path.abspath(__file__))
    subjects = []
    for ending, command in (("cc", ["g++", "-O2", "-g", "-std=c++17", "-pthread", "-o"]),
                            ("rs", ["rustc", "-Cdebuginfo=2", "-O", "-o"]),
                            ("go", ["go", "build", "-o"])):
        target = os.path.join(folder, f"subject_{ending}")
        if not shutil.which(command[0]):
            bench.skipped(f"symbolizer on {ending}", f"no {command[0]}")
            continue
        subprocess.run(command + [target, os.path.join(here, f"symbolizer.{ending}")], check=True,
                       stderr=subprocess.DEVNULL)
        subjects.append(target)
    return subjects


def main():
    build = sys.argv[1]
    tool = os.path.join(build, "everline-symbolize")
    with tempfile.TemporaryDirectory() as folder:
        # BENCH_FILES: more programs with debug information, separated by colons.
        files = [os.path.join(build, "everline")] + build_subjects(folder)
        files += [file for file in os.environ.get("BENCH_FILES", "").split(":") if file]
        if not shutil.which("llvm-symbolizer"):
            bench.skipped("symbolizer", "no llvm-symbolizer to compare with")
            return
        # Speed first: a child's peak begins with ours, which comparing makes large.
        for path in files:
            speed(tool, path, (1, 1000, 100000))
        for path in files:
            compare(tool, path, int(os.environ.get("BENCH_ADDRESSES", "10000")))


if __name__ == "__main__":
    main()
    bench.end()
