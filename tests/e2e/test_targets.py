# SPDX-License-Identifier: Apache-2.0
"""What is profiled and how it ends: commands with their children, processes
already running, the whole machine; exit statuses, Ctrl-C, whose output is whose."""
import os
import signal
import subprocess
import time

import pprof
from everline import EVERLINE, build, check, everline, laws, main, record, scratch, start, stop, test, twice
from pprof import Profile

GNU = ("-O2", "-g", "-D_GNU_SOURCE", "-fno-omit-frame-pointer")


@test
@twice
def children_and_their_threads_are_followed():
    program = build("family", "family.c", flags=GNU)
    result, profile = record("-F", 499, "--", program, 6, 300)
    check(result.status == 7, "the command's exit status is passed on:", result)
    cpu = {int(pid): int(ns) for pid, ns in (line.split() for line in result.out.splitlines())}
    seen = dict.fromkeys(cpu, 0)
    for s in profile.samples:
        if s.labels["pid"] in seen:
            seen[s.labels["pid"]] += s.values[-1]
    check(len(cpu) == 6, result)
    for pid, ns in cpu.items():
        check(abs(seen[pid] / ns - 1) < 0.2, f"process {pid}: {seen[pid] / 1e9:.3f} s seen, {ns / 1e9:.3f} s used")
    total, used = sum(seen.values()), sum(cpu.values())
    check(abs(total / used - 1) < 0.05, f"{total / 1e9:.3f} s seen, {used / 1e9:.3f} s used")
    burn = profile.cum(pprof.function_key, -1)["burn"]
    check(burn > 0.8 * total, "their code has its names, also after exec:", burn / total)
    laws(profile)


@test
def exit_status_is_the_commands():
    for status in (0, 3, 255):
        result, _ = record("--", "sh", "-c", f"exit {status}")
        check(result.status == status, f"exit status {status}:", result)
    killed = everline("annotate", "--", "sh", "-c", "kill -KILL $$")
    check(killed.status == 128 + signal.SIGKILL, "killed by a signal: 128 + its number:", killed)


@test
def programs_own_output_is_untouched_and_the_report_is_last():
    program = build("sleepy", "sleepy.c")
    script = f"echo to-stdout; echo to-stderr >&2; {program} 1; printf 'the end'"
    result = everline("annotate", "-F", 999, "--", "sh", "-c", script).ok()
    check(result.out.startswith("to-stdout\nthe end"), "stdout starts with the program's output:", result)
    check(len(result.out) > len("to-stdout\nthe end") + 40, "then comes the report:", result)
    check("to-stderr\n" in result.err, "stderr:", result)
    recorded, _ = record("--", "sh", "-c", script)
    check(recorded.out == "to-stdout\nthe end", "record adds nothing to stdout:", recorded)


@test
def interrupted_recording_still_reports():
    path = os.path.join(scratch(), "interrupted.pb.gz")
    program = build("service", "service.c", flags=GNU)
    process = start(EVERLINE, "record", "-F", "499", "-o", path, "--", program)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    process.wait(timeout=20)
    profile = Profile.load(path)
    check(profile.cum(pprof.function_key)["main_work"] > 300, "samples until then:", profile.total())
    laws(profile)
    stop(process)
    annotate = subprocess.Popen([EVERLINE, "annotate", "--", program], start_new_session=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2)
    annotate.send_signal(signal.SIGINT)  # to us only: the program is told
    out, err = annotate.communicate(timeout=20)
    stop(annotate)
    check(b"main_work" in out or b"service.c" in out, "the report:", out, err)


@test
def running_process_is_attached_with_later_threads_and_children():
    service = start(build("service", "service.c", flags=GNU), ready="ready")
    attach = start(EVERLINE, "record", "-F", "499", "-d", "5", "-p", str(service.pid), "-o",
                   os.path.join(scratch(), "attached.pb.gz"))
    time.sleep(2)
    service.send_signal(signal.SIGUSR1)
    check(attach.wait(timeout=30) == 0, "exit status", attach.returncode)
    profile = Profile.load(os.path.join(scratch(), "attached.pb.gz"))
    check(service.poll() is None, "the service is still running")
    functions = profile.cum(pprof.function_key, -1)
    total = profile.total(-1)
    for name in ("main_work", "thread_work", "child_work"):
        check(functions[name] > 0.08 * total, f"{name}:", functions.most_common(6))
    check("later" in {s.labels.get("thread") for s in profile.samples}, "the new thread's name")
    check(len({s.labels["pid"] for s in profile.samples}) == 2, "the service and its child")
    laws(profile)
    stop(service)


@test
def recording_ends_when_the_attached_process_does():
    service = start(build("service", "service.c", flags=GNU), ready="ready")
    attach = start(EVERLINE, "record", "-p", str(service.pid), "-o", os.path.join(scratch(), "ended.pb.gz"))
    time.sleep(1.5)
    stop(service)
    check(attach.wait(timeout=10) == 0, "exit status", attach.returncode)
    check(Profile.load(os.path.join(scratch(), "ended.pb.gz")).total() > 50, "samples until the end")


@test
def several_processes_are_attached():
    services = [start(build("service", "service.c", flags=GNU), ready="ready") for _ in range(2)]
    pids = [s.pid for s in services]
    _, profile = record("-d", 2, "-p", ",".join(map(str, pids)))
    check({s.labels["pid"] for s in profile.samples} == set(pids), "both, and nothing else")
    for service in services:
        stop(service)


@test
def whole_machine_shows_strangers():
    service = start(build("service", "service.c", flags=GNU), ready="ready")
    result, profile = record("-a", "-d", 3)
    result.ok()
    check(2.5e9 < profile.duration_nanos < 4e9, "-d 3:", profile.duration_nanos)
    mine = profile.total(-1, lambda s: s.labels["pid"] == service.pid)
    check(mine > 0.3e9, "the service is among them:", mine)
    check(profile.cum(pprof.function_key)["main_work"] > 20, "with its names")
    laws(profile)
    stop(service)


@test
def short_lived_processes_are_named():
    _, profile = record("-F", 997, "--", build("storm", "storm.c", flags=GNU), 3)
    user = profile.total(0, lambda s: s.frames and not pprof.in_kernel(s.frames[0]))
    functions = profile.cum(pprof.function_key)
    check(functions["once"] > 100, "work of processes that live a millisecond:", functions.most_common(8))
    check(functions["once"] > 0.5 * user, f"{functions['once']} of {user} user samples have their names")
    laws(profile)


@test
def duration_ends_the_recording_of_a_command_that_goes_on():
    path = os.path.join(scratch(), "duration.pb.gz")
    began = time.monotonic()
    process = start(EVERLINE, "record", "-o", path, "-d", "1", "--", build("service", "service.c", flags=GNU))
    check(process.wait(timeout=15) == 0, "exit status", process.returncode)
    check(time.monotonic() - began < 8, "ends after about a second")
    check(0.9e9 < Profile.load(path).duration_nanos < 2e9, "and says so")
    stop(process)


@test
def process_that_execs_all_the_time_has_names():
    _, profile = record("-F", 997, "--", build("again", "again.c"), 60, 3000000)
    rows = profile.flat(pprof.function_key)
    unknown = sum(n for name, n in rows.items() if "unknown" in str(name))
    check(rows["main"] > 0.5 * sum(rows.values()) and unknown <= 0.02 * sum(rows.values()), rows)


main()
