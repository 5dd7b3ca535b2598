# SPDX-License-Identifier: Apache-2.0
"""Code made at run time: Numba by lines and by names, Node by its perf map,
and processes whose perf map or JIT list is hostile."""
import json
import math
import os
import shutil
import time

import pprof
from everline import (PROGRAMS, PYTHON, TREE, Skip, build, check, everline, laws, line_of, main, need_tool, record, run,
                      scratch, start, stop, test, twice)

NUMBA = (PYTHON, "-c", "import numba")


def need_numba():
    if run(*NUMBA, timeout=60).status:
        raise Skip("this Python has no Numba")



@test
def numba_dither_shows_its_hot_line():
    need_numba()
    script = os.path.join(TREE, "examples", "dither.py")
    result = everline("annotate", "-F", 499, "--", PYTHON, script, timeout=90).ok()
    rows = [row for row in result.out.splitlines() if "|" in row]
    check(any("np.round" in row for row in rows), "the line that rounds is shown:", result)
    shares = {}
    for row in rows:
        words = row.split("|")[0].replace("+", " ").split()
        try:
            shares[row] = max(float(word) for word in words[:2])
        except ValueError:
            continue
    hottest = max(shares, key=shares.get)
    check("np.round" in hottest, "and it is the hottest:", hottest, result.out)
    check("dither" in result.out, "the function's name")


@test
@twice
def numba_lines_have_their_measured_shares():
    need_numba()
    result, profile = record("-F", 997, "--", PYTHON, os.path.join(PROGRAMS, "numba_lines.py"), 4, timeout=90)
    truth = json.loads(result.ok().out.splitlines()[-1])
    lines, samples = profile.flat_lines(-1), profile.flat_lines(0)
    seen, n = {}, 0
    for name in ("first", "second"):
        at = line_of("numba_lines.py", name)
        line, loop = f"numba_lines.py:{at}", f"numba_lines.py:{at - 1}"  # the `for` belongs to what was measured
        seen[name] = lines[line] + lines[loop]
        n += samples[line] + samples[loop]
        check(lines[line] > 0.6 * seen[name], f"{name}: the line itself, not its `for`:", lines.most_common(8))
    share, true = (of["first"] / (of["first"] + of["second"]) for of in (seen, truth))
    check(n > 1000, f"only {n} samples")
    check(abs(share - true) < 1.96 * math.sqrt(true * (1 - true) / n) + 0.005, f"true {true:.1%}, seen {share:.1%}")
    both = sum(seen.values()) / 1e9 / (truth["first"] + truth["second"])
    check(0.95 < both < 1.03, f"{both:.1%} of the loops' CPU time is on their lines:", lines.most_common(8))
    laws(profile)


@test
def numba_lines_off_leaves_the_environment_alone():
    need_numba()
    script = "import os; print(sorted(k for k in os.environ if k.startswith('NUMBA')))"
    off = everline("record", "-o", os.path.join(scratch(), "env.pb.gz"), "--numba-lines=off", "--", PYTHON, "-c", script)
    check(off.ok().out == "[]\n", off)
    on = everline("record", "-o", os.path.join(scratch(), "env.pb.gz"), "--", PYTHON, "-c", script)
    check("NUMBA_DEBUGINFO" in on.ok().out and "NUMBA_CACHE_DIR" in on.out, on)


@test
def running_numba_service_shows_names_and_how_to_get_lines():
    need_numba()
    service = start(PYTHON, os.path.join(PROGRAMS, "numba_service.py"), ready="ready")
    try:
        _, profile = record("-F", 499, "-d", 2, "-p", service.pid)
        functions = profile.flat(pprof.function_key)
        hot = [f for f in functions if "smooth_service" in f]
        check(hot and sum(functions[f] for f in hot) > 0.9 * profile.total(), functions.most_common(5))
        check(not any("abi:" in f or "$" in f and "B2" in f for f in hot), "no abi tags:", hot)
        check(any("float64" in f or "double" in f or "Array" in f or "array" in f for f in hot), "argument types:", hot)
        shown = everline("annotate", "-d", 2, "-p", service.pid).ok()
        check("smooth_service" in shown.out, shown)
        check("NUMBA_DEBUGINFO" in shown.out + shown.err, "how to get lines:", shown)
        laws(profile)
    finally:
        stop(service)


@test
def node_shows_the_names_of_its_perf_map():
    need_tool("node")
    service = start("node", "--perf-basic-prof", os.path.join(PROGRAMS, "spin.js"), ready="ready", cwd=scratch())
    try:
        _, profile = record("-F", 499, "-d", 2, "-p", service.pid)
        functions = profile.flat(pprof.function_key)
        hot = sum(n for f, n in functions.items() if "hotSpin" in f)
        cool = sum(n for f, n in functions.items() if "coolSpin" in f)
        check(hot > 0.6 * profile.total(), functions.most_common(6))
        check(hot > 4 * cool, "ten times the work:", hot, cool)
        laws(profile)
    finally:
        stop(service)
        for folder in ("/tmp", scratch()):
            path = os.path.join(folder, f"perf-{service.pid}.map")
            if os.path.exists(path):
                os.unlink(path)


class PerfMap:
    """A running jitcode with a perf map made by `make(path, address, size)`."""

    def __init__(self, make=None, how="none", comm="jitcode"):
        self.service = start(build("jitcode", "jitcode.c"), how, comm, ready=None)
        wait = time.monotonic() + 5
        while time.monotonic() < wait and not self.code():
            time.sleep(0.05)
        self.path = f"/tmp/perf-{self.service.pid}.map"
        if make:
            make(self.path, self.code(), 4096)

    def code(self):
        """Where its anonymous executable memory is."""
        with open(f"/proc/{self.service.pid}/maps") as f:
            for line in f:
                words = line.split()
                if words[1] == "rwxp" and len(words) == 5:
                    return int(words[0].split("-")[0], 16)
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop(self.service)
        if os.path.lexists(self.path):
            os.unlink(self.path)

    def profile(self):
        began = time.monotonic()
        result, profile = record("-F", 299, "-d", 1.5, "-p", self.service.pid, timeout=40)
        result.ok()
        check(time.monotonic() - began < 15, f"took {time.monotonic() - began:.0f} s")
        check(result.cpu < 5, f"took {result.cpu:.1f} CPU s")
        check(result.rss < 300 << 10, f"took {result.rss >> 10} MiB")
        check(profile.total() > 60, "samples are kept:", profile.total())
        laws(profile)
        return profile, profile.flat(pprof.function_key)


def text(content):
    def make(path, address, size):
        with open(path, "wb") as f:
            f.write(content(address, size))
    return make


@test
def perf_map_names_code_without_a_file():
    with PerfMap(text(lambda a, n: b"%x %x outer name with spaces\n" % (a, n))) as jit:
        _, functions = jit.profile()
        check(functions["outer name with spaces"] > 60, functions)
    with PerfMap(text(lambda a, n: b"0x%x 0x%x old\n0x%x 0x%x newer\n" % (a, n, a, n))) as jit:
        _, functions = jit.profile()
        check(functions["newer"] > 60 and not functions["old"], "later entries win, 0x is understood:", functions)


@test
def control_characters_never_reach_the_terminal():
    evil = b"\x1b]0;owned\x07 \x1b[31mred\x9b2J \xe2\x80\xae \r\x08 \xff\xfe"
    comm = b"\x1b[5mbad\x07\xff"
    with PerfMap(text(lambda a, n: b"%x %x %s\n" % (a, n, evil)), comm=comm) as jit:
        profile, functions = jit.profile()
        check(any("owned" in f for f in functions), "the name is there:", functions)
        shown = [everline("annotate", "-d", 1, "-p", jit.service.pid)]
        for by in ("line", "function", "file", "module", "process", "thread"):
            shown.append(everline("report", profile.path, "--by", by))
        shown.append(everline("annotate", profile.path, "--all"))
        shown.append(everline("report", profile.path, "--by", "function", "--json"))
        shown.append(everline("annotate", profile.path, "--json"))
        for result in shown:
            result.ok()
            raw = set(result.raw) & (set(range(32)) - {9, 10} | {127})
            check(not raw, f"raw bytes {sorted(raw)}:", result.args, repr(result.out[:2000]))
            check(b"\xe2\x80\xae" not in result.raw and b"\xc2\x9b" not in result.raw, "bidi or C1:", result.args)
            result.raw.decode("utf-8")  # or it is not even text


@test
def hostile_perf_maps_do_no_harm():
    def fifo(path, address, size):
        os.mkfifo(path)

    def symlink(path, address, size):
        with open("/etc/shadow"):
            os.symlink("/etc/shadow", path)

    def sparse(path, address, size):
        with open(path, "wb") as f:
            f.truncate(1 << 40)

    def directory(path, address, size):
        os.symlink("/dev/zero", path)

    def foreign(path, address, size):
        with open(path, "wb") as f:
            f.write(b"%x %x not_by_its_owner\n" % (address, size))
        os.chown(path, 12345, 12345)
    noise = b"".join(bytes([i * 7 % 251, i % 256]) for i in range(1 << 19))
    shapes = {"a FIFO": fifo, "a symbolic link": symlink, "1 TB sparse": sparse, "a link to a device": directory,
              "noise": text(lambda a, n: noise), "one endless line": text(lambda a, n: b"1 1 " + b"x" * (8 << 20)),
              "numbers without end": text(lambda a, n: b"f" * 4000 + b" " + b"f" * 4000 + b" name\n"),
              "an entry around the whole memory": text(lambda a, n: b"0 ffffffffffffffff everything\n"),
              "of another user": foreign}
    refusals = ("a FIFO", "a symbolic link", "1 TB sparse", "a link to a device", "of another user")
    harmless = ("an entry around the whole memory",)
    for name, make in shapes.items():
        with PerfMap(make) as jit:
            profile, functions = jit.profile()
            refused, bad = (profile.counters[key] for key in ("perf maps refused", "perf map bad lines"))
            check(refused == 1 if name in refusals else bad > 0 or name in harmless, name, refused, bad)
            check(not functions["not_by_its_owner"], name, functions)
            check(not any("root:" in f for f in functions), name, functions)


@test
def older_perf_map_than_the_process_is_not_believed():
    def old(path, address, size):
        with open(path, "wb") as f:
            f.write(b"%x %x left_by_another\n" % (address, size))
        os.utime(path, (1e9, 1e9))
    with PerfMap(old) as jit:
        _, functions = jit.profile()
        check(not functions["left_by_another"], functions)


@test
def hostile_jit_lists_do_no_harm():
    for how in ("cycle", "long", "huge", "garbage", "nowhere"):
        with PerfMap(how=how) as jit:
            profile, _ = jit.profile()
            check(profile.counters["jit lists cut"] + profile.counters["jit refused"] > 0, how, profile.counters)


@test
def pprof_opens_the_file_without_the_binary():
    need_tool("go")
    need_numba()
    if run("go", "tool", "pprof", "-h", timeout=120).status > 2 or not shutil.which("go"):
        raise Skip("this Go has no pprof")
    _, profile = record("-F", 499, "--", PYTHON, os.path.join(PROGRAMS, "numba_lines.py"), 1, timeout=90)
    table = run("go", "tool", "pprof", "-text", "-lines", "-nodecount=20", profile.path, timeout=120,
                env={"PPROF_TMPDIR": scratch(), "PPROF_BINARY_PATH": scratch()})
    check(table.status == 0 and "numba_lines.py:" in table.out, table)


main()
