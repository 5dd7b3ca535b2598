# SPDX-License-Identifier: Apache-2.0
"""Nothing stays behind when we are killed, and periodic dumps: windows without
gaps, rotation, the latest link, level memory."""
import json
import os
import random
import shutil
import signal
import time

import pprof
from everline import (EVERLINE, Skip, build, check, everline, laws, main, need_tool, run, scratch, start, stop, test,
                      wait_for)
from pprof import Profile

GNU = ("-O2", "-g", "-D_GNU_SOURCE", "-fno-omit-frame-pointer")


def programs():
    tool = shutil.which("bpftool") or "/usr/sbin/bpftool"
    if not os.path.exists(tool):
        raise Skip("bpftool is not installed")
    return {p["id"]: p.get("name") for p in json.loads(run(tool, "-j", "prog", "list").ok().out)}


def children_of(pid):
    """Living processes whose parent, or parent's parent, ... is `pid`."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", errors="replace") as f:
                    parents[int(entry)] = int(f.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    found, wave = set(), {pid}
    while wave:
        wave = {child for child, parent in parents.items() if parent in wave} - found
        found |= wave
    return found


def temporary():
    return {name for name in os.listdir("/tmp") if "everline" in name.lower() or name.startswith(("el-", "el."))
            } - {os.path.basename(scratch())}


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@test
def killed_at_any_moment_leaves_nothing_behind():
    service = start(build("service", "service.c", flags=GNU), ready="ready")
    before, files = programs(), temporary()
    folder = os.path.join(scratch(), "killed")
    os.mkdir(folder)
    helpers = set()
    for i in range(12):
        process = start(EVERLINE, "record", "-F", "499", "-p", str(service.pid), "-o", os.path.join(folder, "p.pb.gz"))
        time.sleep(random.Random(i).uniform(0.02, 0.9))
        mine = children_of(process.pid)
        helpers |= mine
        if i % 3 == 2:  # some while the file is being written
            process.send_signal(signal.SIGINT)
            time.sleep(random.Random(i).uniform(0, 0.1))
        process.kill()
        process.wait()
        wait_for(lambda: not any(alive(pid) for pid in mine), 5, "its processes end with it")
    check(helpers, "the recorder had processes of its own")
    wait_for(lambda: not set(programs()) - set(before), 5, "BPF programs are gone")
    check(temporary() <= files, "temporary files:", temporary() - files)
    left = os.listdir(folder)
    check(set(left) <= {"p.pb.gz"}, "no temporary file beside it:", left)
    if "p.pb.gz" in left:
        Profile.load(os.path.join(folder, "p.pb.gz"))  # whole, or an error
    stop(service)


@test
def killed_recorder_lets_its_command_go_on():
    process = start(EVERLINE, "record", "-o", os.path.join(scratch(), "x.pb.gz"), "--",
                    build("service", "service.c", flags=GNU))
    time.sleep(1)
    named = [pid for pid in children_of(process.pid)
             if os.readlink(f"/proc/{pid}/exe").endswith("/service")]
    check(len(named) == 1, "the command runs:", named)
    process.kill()
    process.wait()
    time.sleep(0.5)
    check(alive(named[0]), "the program is not harmed")
    stop(process)


def cpu_ns(pid):
    """CPU time of a process so far, in steps of 10 ms."""
    with open(f"/proc/{pid}/stat", errors="replace") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


def windows_of(folder):
    return sorted(name for name in os.listdir(folder)
                  if os.path.isdir(os.path.join(folder, name)) and not os.path.islink(os.path.join(folder, name)))


@test
def windows_follow_each_other_without_a_gap():
    folder = os.path.join(scratch(), "windows")
    service = start(build("service", "service.c", flags=GNU), ready="ready")
    began = cpu_ns(service.pid)
    result = everline("record", "-F", 499, "-p", service.pid, "--every", 1, "--keep", 50, "--report", "lines,functions",
                      "-d", 6.5, "-o", folder)
    used = cpu_ns(service.pid) - began
    stop(service)
    result.ok()
    names = windows_of(folder)
    check(6 <= len(names) <= 8, "a window a second:", names)
    profiles = [Profile.load(os.path.join(folder, name, "profile.pb.gz")) for name in names]
    for a, b in zip(profiles, profiles[1:]):
        check(a.time_nanos + a.duration_nanos == b.time_nanos, "no gap, no overlap:", a.time_nanos, a.duration_nanos,
              b.time_nanos)
    for profile in profiles:
        laws(profile)
    total, duration = sum(p.total(-1) for p in profiles), sum(p.duration_nanos for p in profiles)
    check(abs(duration / 6.5e9 - 1) < 0.1, "the windows cover the recording:", duration)
    check(0.85 < total / used <= 1.02, f"and hold its CPU time: {total / 1e9:.2f} of {used / 1e9:.2f} s")
    work = sum(p.cum(pprof.function_key, -1)["main_work"] for p in profiles)
    check(work > 0.9 * total, "by its names in every window:", work, total)
    for name in names:
        files = os.listdir(os.path.join(folder, name))
        check(any("line" in f for f in files) and any("function" in f for f in files), "the reports:", files)
        for file in files:
            if not file.endswith(".pb.gz"):
                text = open(os.path.join(folder, name, file)).read()
                check("main_work" in text or "service.c" in text, f"{name}/{file}:", text[:600])
    latest = os.path.join(folder, "latest")
    check(os.path.islink(latest), "latest is a link")
    check(os.path.basename(os.path.realpath(latest)) == names[-1], "to the newest:", os.path.realpath(latest), names)


@test
def windows_rotate_and_none_is_half_written():
    folder = os.path.join(scratch(), "rotating")
    service = start(build("service", "service.c", flags=GNU), ready="ready")
    recorder = start(EVERLINE, "record", "-p", str(service.pid), "--every", "0.5", "--keep", "3", "--report", "lines", "-o",
                     folder)
    try:
        wait_for(lambda: os.path.exists(os.path.join(folder, "latest")), 10, "a first window")
        seen, end = set(), time.monotonic() + 5
        while time.monotonic() < end:
            names = [name for name in windows_of(folder) if not name.startswith(".")]
            seen.update(names)
            check(len(names) <= 4, "three are kept, one may be on its way:", names)
            try:
                Profile.load(os.path.join(folder, "latest", "profile.pb.gz"))
            except FileNotFoundError:
                pass  # rotated away between the link and the file
            time.sleep(0.02)
        check(len(seen) >= 7, "new ones keep coming:", seen)
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=20)
        stop(recorder)
        stop(service)
    check(len(windows_of(folder)) == 3, "three at the end:", os.listdir(folder))
    check(not [name for name in os.listdir(folder) if name.startswith(".")], "nothing half written:", os.listdir(folder))


@test
def memory_stays_level_over_windows_of_short_lived_processes():
    need_tool("ps")
    storm = start(build("storm", "storm.c", flags=GNU), "60")
    recorder = start(EVERLINE, "record", "-a", "--every", "1", "--keep", "2", "--report", "lines", "-o",
                     os.path.join(scratch(), "level"))

    def resident():
        total = 0
        for pid in {recorder.pid} | children_of(recorder.pid):
            try:
                with open(f"/proc/{pid}/statm") as f:
                    total += int(f.read().split()[1]) * 4
            except OSError:
                pass
        return total
    try:
        time.sleep(8)
        early = max(resident() for _ in range(10) if not time.sleep(0.1))
        time.sleep(14)
        late = max(resident() for _ in range(10) if not time.sleep(0.1))
        check(recorder.poll() is None, "still recording")
        check(late < early * 1.15 + 4096, f"{early} KiB after 8 s, {late} KiB after 23 s")
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=20)
        stop(recorder)
        stop(storm)


main()
