#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares everline-symbolize with llvm-symbolizer and eu-addr2line.

Asks random addresses of .text, compares file:line, inline depth and function
names, lists and classifies the differences, and measures CPU time and memory
of both in one run. Usage: symbolizer.py EVERLINE_SYMBOLIZE FILE...
"""
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time


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


def compare(tool, path, n):
    addrs = sample(path, n, 1)
    text = addresses_text(addrs)
    ours = parse(measure([tool, "-afiC", "-e", path], text)[0], False)
    theirs = parse(measure(["llvm-symbolizer", "--functions=linkage", "--inlines", "--demangle",
                            "--addresses", "-e", path], text)[0], True)
    if len(ours) != n or len(theirs) != n:
        print(f"  answers: asked {n}, ours {len(ours)}, theirs {len(theirs)}")
        return
    kinds, names, depth, place = collections.defaultdict(list), 0, 0, 0
    for addr, a, b in zip(addrs, ours, theirs):
        kind = classify(a, b)
        if kind:
            kinds[kind].append((addr, a, b))
        depth += len(a) == len(b)
        names += bool(a and b and a[0][0] == b[0][0])
        place += bool(a and b and not classify(a[:1], b[:1]))
    same = n - sum(map(len, kinds.values()))
    print(f"  of {n}: innermost file:line equal {100 * place / n:.2f} %, inline depth "
          f"{100 * depth / n:.2f} %, whole chains {100 * same / n:.2f} %, "
          f"innermost names {100 * names / n:.2f} %")
    for kind, rows in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"    {kind}: {len(rows)}")
        for addr, a, b in rows[: int(os.environ.get("SHOW", "2"))]:
            print(f"      0x{addr:x}\n        ours   {a}\n        theirs {b}")


def speed(tool, path, sizes):
    rivals = {"everline": [tool, "-fiC", "-e", path],
              "llvm-symbolizer": ["llvm-symbolizer", "-e", path],
              "eu-addr2line": ["eu-addr2line", "-fiC", "-e", path]}
    for n in sizes:
        text = addresses_text(sample(path, n, 2))
        cells = []
        for name, command in rivals.items():
            if not shutil.which(command[0]) or (name == "eu-addr2line" and n > 1000):
                continue
            runs = [measure(command, text, False) for _ in range(3 if n <= 1000 else 1)]
            best = min(runs, key=lambda run: run[1])
            cells.append(f"{name} {best[1]:.3f} s {best[2]:.0f} MB")
        print(f"  {n:>6} addresses: " + ", ".join(cells))


def main():
    tool, files = sys.argv[1], sys.argv[2:]
    # Speed first: a child's peak begins with ours, which comparing makes large.
    for measured in (True, False):
        for path in files:
            print(f"{path} ({os.path.getsize(path) / 1e6:.0f} MB)")
            if measured:
                speed(tool, path, (1, 1000, 100000))
            else:
                compare(tool, path, int(os.environ.get("N", "10000")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
