# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: rows of the table, rounds, medians. Programs and
the runner are those of the end-to-end tests."""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
_missed = 0


def row(figure, asked, measured, ok=None):
    """ok: True, False, or None for a figure that is only told."""
    global _missed
    _missed += ok is False
    print(f"{figure:<62} | {asked:<16} | {measured:<30} | {'-' if ok is None else 'yes' if ok else 'NO'}", flush=True)


def skipped(figure, reason):
    row(figure, "", f"skipped: {reason}")


def spread(values, form="{:.3g}"):
    """Median, lowest and highest."""
    return f"{form.format(statistics.median(values))} [{form.format(min(values))}..{form.format(max(values))}]"


def family(pid):
    """The process and everything it started that still runs."""
    parents = {}
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat", errors="replace") as f:
                parents[int(entry)] = int(f.read().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):
            continue
    found, wave = {pid}, {pid}
    while wave:
        wave = {child for child, parent in parents.items() if parent in wave} - found
        found |= wave
    return found


def memory(pid, field="VmRSS"):
    """A field of /proc/PID/status in bytes."""
    try:
        with open(f"/proc/{pid}/status", errors="replace") as f:
            for line in f:
                if line.startswith(field + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def cpu_seconds(pid):
    """CPU time of a process so far, without its children."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as f:
            words = f.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def end():
    sys.exit(1 if _missed else 0)
