# SPDX-License-Identifier: Apache-2.0
"""What can be asked wrongly, and what a machine can lack: each a sentence that
says what to do, the right exit status, and no torn file."""
import os
import gzip
import random
import resource
import shutil
import subprocess
import time

from everline import (EVERLINE, PYTHON, Skip, build, check, everline, main, record, run, scratch, start, stop, test,
                      wait_for)
from pprof import Profile

COMMANDS = ("record", "annotate", "report")


def path(name):
    return os.path.join(scratch(), name)


def a_profile():
    _, profile = record("-F", 499, "--", build("kernel", "kernel.c"), 1)
    return profile.path


@test
def help_of_each_command_has_an_example_and_the_exit_statuses():
    top = everline("--help").ok().out
    for command in COMMANDS:
        check(command in top, f"{command} in --help:", top)
        text = everline(command, "--help").ok().out
        check(f"everline {command} " in text.split("xamples:")[1], f"{command}: an example:", text)
        check("xit status" in text, f"{command}: exit statuses:", text)
        check(all(len(line) <= 100 for line in text.splitlines()), f"{command}: lines up to 100", text)
    check(everline("--version").ok().out.startswith("everline "), "--version")


@test
def nothing_asked_is_a_usage_error_with_help():
    everline().fails(2, "annotate", "--help")
    everline("frobnicate").fails(2, "frobnicate", "--help")
    everline("record").fails(2, "-p")
    for command in COMMANDS:
        everline(command, "--no-such-option").fails(2, "--no-such-option", "--help")


@test
def values_out_of_range_are_usage_errors():
    for rate in ("0", "10001", "-5", "fast", "99x", ""):
        everline("record", "-F", rate, "--", "true").fails(2, "10000")
    everline("record", "-e", "nonsense", "--", "true").fails(2, "nonsense", "page-faults")
    everline("record", "-d", "-1", "--", "true").fails(2)
    everline("record", "--numba-lines=perhaps", "--", "true").fails(2, "perhaps", "inject")
    everline("record", "-p", "12x").fails(2, "12x")
    everline("record", "-a", "-p", "1").fails(2)
    everline("record", "--").fails(2, "command")
    everline("report", a_profile(), "--by", "colour").fails(2, "colour", "function")


@test
def process_that_is_not_there_is_said():
    gone = start("true")
    gone.wait()
    everline("record", "-p", gone.pid).fails(1, str(gone.pid))
    everline("annotate", "-p", gone.pid).fails(1, str(gone.pid))


@test
def command_that_is_not_there_is_said():
    check(everline("record", "--", "no-such-command-here").fails(127, "no-such-command-here").out == "", "stdout")
    with open(path("not-executable"), "w") as f:
        f.write("text")
    everline("annotate", "--", path("not-executable")).fails(126, "not-executable")
    with open(path("script"), "w") as f:
        f.write("#!/no/such/interpreter\n")
    os.chmod(path("script"), 0o755)
    everline("annotate", "--", path("script")).fails(127, "script", "interpreter")


@test
def no_root_is_said_with_what_to_do():
    if os.geteuid():
        raise Skip("not root")
    shutil.copy(EVERLINE, path("everline"))
    os.chmod(path("everline"), 0o755)
    result = run("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", path("everline"), "record", "-o",
                 "/tmp/el-test-unwritten.pb.gz", "--", "true")
    result.fails(1)
    check("sudo" in result.err or "root" in result.err or "CAP_" in result.err, "what to do:", result)


@test
def output_that_cannot_be_written_is_said():
    everline("record", "-o", path("no/such/folder/p.pb.gz"), "--", "true").fails(1, "no/such/folder")
    os.mkdir(path("folder"))
    everline("record", "-o", path("folder"), "--", "true").fails(1, "folder")


@test
def unfinished_window_is_removed_or_named_before_recording():
    aside = path("windows/.writing")
    os.makedirs(aside)
    open(os.path.join(aside, "profile.pb.gz"), "w").close()
    everline("record", "--every", 1, "-o", path("windows"), "--", "true").ok()
    check(not os.path.exists(aside), "a killed recording's window is gone")
    os.mkdir(aside)
    open(os.path.join(aside, "notes"), "w").close()
    everline("record", "--every", 1, "-o", path("windows"), "--", "true").fails(1, ".writing", "remove")


@test
def full_disk_leaves_no_torn_file_and_fails():
    folder = path("small")
    os.mkdir(folder)
    if run("mount", "-t", "tmpfs", "-o", "size=64k", "none", folder).status:
        raise Skip("mounting a tmpfs is not permitted")
    try:
        target = os.path.join(folder, "p.pb.gz")
        record("--", "true", folder=folder)
        before = open(os.path.join(folder, "profile.pb.gz"), "rb").read()
        with open(os.path.join(folder, "ballast"), "wb", buffering=0) as f:
            try:
                while True:
                    f.write(bytes(1024))
            except OSError:
                pass
        busy = build("kernel", "kernel.c")
        for name in (target, os.path.join(folder, "profile.pb.gz")):
            result = everline("record", "-F", 999, "-o", name, "--", busy, 1)
            result.fails(1, "space")
        check(not os.path.exists(target), "no torn file")
        check(open(os.path.join(folder, "profile.pb.gz"), "rb").read() == before, "the older file is whole")
        check(sorted(os.listdir(folder)) == ["ballast", "profile.pb.gz"], "no temporary file:", os.listdir(folder))
    finally:
        run("umount", folder)


@test
def report_to_a_full_device_fails():
    profile = a_profile()
    with open("/dev/full", "w") as full:
        for args in (("report", profile), ("annotate", profile), ("report", profile, "--json"), ("--help",),
                     ("record", "--help"), ("--version",)):
            check(run_into(full, *args) != 0, "an unwritten report is no success:", args)


def run_into(file, *args):
    return subprocess.run([EVERLINE, *args], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL,
                          timeout=30).returncode


@test
def device_as_output_is_written_to_and_not_replaced():
    if run("mknod", path("null"), "c", "1", "3").status:
        raise Skip("making a device node is not permitted")
    everline("record", "-o", path("null"), "--", "true")
    check(os.path.exists(path("null")) and not os.path.isfile(path("null")), "the device is still one")


@test
def closed_standard_descriptors_get_no_other_file():
    """What everline says into a closed stderr must not end up in a socket of its own."""
    closed = start("sh", "-c", f"exec {EVERLINE} record -o {path('closed.pb.gz')} -- sleep 2 <&- >&- 2>&-")
    fds = f"/proc/{closed.pid}/fd"
    wait_for(lambda: len(os.listdir(fds)) > 10, 10, "the recording")
    taken = [os.readlink(f"{fds}/{fd}") for fd in range(3)]
    check(closed.wait(timeout=20) == 0 and os.path.exists(path("closed.pb.gz")), "the profile is written")
    check(taken == ["/dev/null"] * 3, "no other file has their numbers:", taken)


@test
def too_few_descriptors_are_said():
    for limit in (8, 12, 16):
        result = everline("record", "-o", path("few.pb.gz"), "--", "true",
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        if result.status:
            result.fails(1)
            check("files" in result.err or "descriptors" in result.err, "the cause is named:", result)
            check("ulimit -n" in result.err, "and what to do:", result)


@test
def files_that_are_no_profiles_are_said():
    whole = open(a_profile(), "rb").read()
    for name, content in (("empty", b""), ("text", b"hello\n" * 100), ("gzip of text", None)):
        with open(path("bad"), "wb") as f:
            if content is None:
                content = gzip.compress(b"\xff" * 5000)
            f.write(content)
        for command in ("report", "annotate"):
            result = everline(command, path("bad"))
            check(result.status == 1 and "bad" in result.err, name, result)
    for i in range(40):
        with open(path("cut"), "wb") as f:
            f.write(whole[:len(whole) * i // 40])
        result = everline("report", path("cut"))
        check(result.status == 1 and "cut" in result.err, f"cut at {i}/40:", result)
    everline("report", path("absent")).fails(1, "absent")


@test
def noise_in_a_profile_neither_crashes_nor_hangs():
    noise = random.Random(7)
    whole = gzip.decompress(open(a_profile(), "rb").read())
    for i in range(60):
        damaged = bytearray(whole)
        for _ in range(1 + i % 8):
            damaged[noise.randrange(len(damaged))] = noise.randrange(256)
        with open(path("noise"), "wb") as f:
            f.write(gzip.compress(bytes(damaged), 1))
        result = everline(("report", "annotate")[i % 2], path("noise"), timeout=20)
        check(result.status in (0, 1), f"try {i}:", result)
        check(result.rss < 400 << 10, f"try {i}: {result.rss >> 10} MiB")


@test
def source_that_changed_since_the_build_is_said():
    source = path("changing.c")
    with open(source, "w") as f:
        f.write("int main(void)\n{\n\tfor (volatile long i = 0; i < 600000000; i++)\n\t\t;\n\treturn 0;\n}\n")
    check(run("gcc", "-O1", "-g", "-o", path("changing"), source).status == 0, "gcc")
    fresh = everline("annotate", "-F", 499, "--", path("changing")).ok()
    check("volatile long i" in fresh.out, "the source line is shown:", fresh)
    time.sleep(1.1)
    os.utime(source)
    with open(source, "a") as f:
        f.write("/* later */\n")
    stale = everline("annotate", "-F", 499, "--", path("changing")).ok()
    check("changed" in stale.out + stale.err or "newer" in stale.out + stale.err, "said:", stale)
    os.unlink(source)
    gone = everline("annotate", "-F", 499, "--", path("changing")).ok()
    check("changing.c" in gone.out and "volatile long i" not in gone.out, "absent source: no guess:", gone)


@test
def program_that_mostly_waits_is_called_so():
    result = everline("annotate", "-F", 499, "--", build("sleepy", "sleepy.c"), 2).ok()
    check("wait" in result.out, result)
    busy = everline("annotate", "-F", 499, "--", build("kernel", "kernel.c"), 1).ok()
    check("mostly waits" not in busy.out, busy)


@test
def python_that_does_nothing_gives_an_honest_report():
    result = everline("annotate", "--", PYTHON, "-S", "-c", "pass").ok()
    check("%" in result.out or "sample" in result.out.lower(), result)
    Profile.load(record("--", "true")[1].path)


main()
