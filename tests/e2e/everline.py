# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: run the binary, build a program of known
truth, wait for things, and the loop that prints one TAP-like line per test.
A test is a function marked @test; its docstring is not needed, its name says
the situation and the outcome."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from pprof import Profile

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("EVERLINE_BUILD", os.path.join(TREE, "build")))
EVERLINE = os.path.join(BUILD, "everline")
PROGRAMS = os.path.join(TREE, "tests", "programs")
PYTHON = "/usr/bin/python3"

_tests = []
_own = []  # processes started through start(), ended with the script


class Skip(Exception):
    pass


class Failure(Exception):
    pass


def test(function):
    _tests.append(function)
    return function


def check(condition, *what):
    if not condition:
        raise Failure(" ".join(str(w) for w in what))


def need_tool(*names):
    for name in names:
        if not shutil.which(name):
            raise Skip(f"{name} is not installed")


class Result:
    """How a command ended: status, output, wall and CPU seconds, and the largest
    resident set in KiB among it and the children it waited for."""

    def __init__(self, args, status, out, err, seconds, usage):
        self.args, self.status, self.seconds = args, status, seconds
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")
        self.raw = out + err
        self.cpu, self.rss = usage.ru_utime + usage.ru_stime, usage.ru_maxrss

    def __str__(self):
        return (f"{' '.join(map(str, self.args))}\n  status {self.status}, {self.seconds:.1f} s\n"
                f"  stdout: {self.out[-3000:]}\n  stderr: {self.err[-3000:]}")

    def ok(self):
        check(self.status == 0, "expected exit status 0:", self)
        return self

    def fails(self, status, *words):
        check(self.status == status, f"expected exit status {status}:", self)
        for word in words:
            check(word.lower() in self.err.lower(), f"stderr should mention {word!r}:", self)
        return self

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise Failure(f"not JSON ({error}): {self}")


def run(*args, timeout=60, env=None, **options):
    """Any command; kills it after `timeout` and fails."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        def said():
            out.seek(0)
            err.seek(0)
            return out.read(), err.read()
        process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env={**os.environ, **(env or {})}, start_new_session=True, **options)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > timeout:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise Failure(f"not done after {timeout} s: {args}", *(text[-2000:] for text in said()))
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Result(args, process.returncode, *said(), time.monotonic() - began, usage)


def everline(*args, **options):
    return run(EVERLINE, *map(str, args), **options)


def record(*args, folder=None, **options):
    """(Result, Profile) of `everline record -o FILE ARGS`."""
    path = os.path.join(folder or scratch(), "profile.pb.gz")
    if os.path.exists(path):
        os.unlink(path)
    result = everline("record", "-o", path, *args, **options)
    check(os.path.exists(path), "no profile was written:", result)
    profile = Profile.load(path)
    profile.path = path
    return result, profile


def start(*args, ready=None, **options):
    """A program in the background; waits for the line `ready` on its stdout."""
    process = subprocess.Popen(args, stdin=subprocess.DEVNULL, start_new_session=True,
                               stdout=subprocess.PIPE if ready else subprocess.DEVNULL,
                               stderr=options.pop("stderr", subprocess.DEVNULL), **options)
    _own.append(process)
    if ready:
        for line in process.stdout:
            if ready in line.decode("utf-8", "replace"):
                break
        else:
            raise Failure(f"{args[0]} ended before it said {ready!r}")
    return process


def stop(process):
    """Ends a program of start() with everything it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    if process.stdout:
        process.stdout.close()
    if process in _own:
        _own.remove(process)


def laws(profile, clock=True):
    """The accounts of one recording, to the last nanosecond and the last sample."""
    at = profile.counters
    check(at, "the profile holds no counters")

    def equal(name, left, right):
        check(left == right, f"{name}: {left} != {right} (difference {left - right}); counters: {at}")

    if clock:
        equal("enabled = elapsed + open tail", at["enabled"] + at["open head"],
              at["elapsed"] + at["open tail"])
        equal("elapsed = its parts", at["elapsed"],
              at["idle"] + at["filtered"] + at["kept"] + at["lost ring"] + at["late"])
        equal("kept = weights in the profile", at["kept"] + at["carried in"],
              profile.total(-1) + at["carried out"])
    equal("ran = its parts", at["ran"],
          at["ran idle"] + at["ran filtered"] + at["ran kept"] + at["ran lost ring"])
    if not clock or not (at["carried in"] or at["carried out"]):
        equal("kept = samples in the profile", at["ran kept"], profile.total(0))
    check(at["stacks missing"] == 0, "stacks missing:", at["stacks missing"])


_scratch = None


def scratch():
    """A folder that is removed at the end of the script."""
    global _scratch
    if not _scratch:
        _scratch = tempfile.mkdtemp(prefix="el-test-")
        os.chmod(_scratch, 0o755)
    return _scratch


def build(name, *sources, flags=("-O2", "-g"), compiler="gcc", link=()):
    """Compiles tests/programs/SOURCES under the build folder, when they changed."""
    need_tool(compiler)
    folder = os.path.join(BUILD, "tests", "programs")
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, name)
    paths = [os.path.join(PROGRAMS, source) for source in sources]
    newest = max(map(os.path.getmtime, paths + [os.path.join(PROGRAMS, f) for f in os.listdir(PROGRAMS)
                                                 if f.endswith(".h")]))
    stamp = target + ".command"
    command = [compiler, *flags, "-o", target, *paths, *link]
    if (os.path.exists(target) and os.path.exists(stamp) and os.path.getmtime(target) > newest
            and open(stamp).read() == repr(command)):
        return target
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, "cannot compile:", done.stdout.decode())
    with open(stamp, "w") as f:
        f.write(repr(command))
    return target


def line_of(source, mark):
    """The number of the one line of tests/programs/SOURCE that holds the comment `mark`."""
    with open(os.path.join(PROGRAMS, source)) as f:
        found = [n for n, text in enumerate(f, 1) if f"/* {mark} */" in text or f"# {mark}\n" in text
                 or f"// {mark}\n" in text]
    check(len(found) == 1, f"{source}: mark {mark!r} on lines {found}")
    return found[0]


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise Failure(f"{what}: not within {seconds} s")


def twice(function):
    """For figures under noise: the second try decides."""
    def tries(*args):
        try:
            return function(*args)
        except Failure as failure:
            print(f"# first try of {function.__name__}: {str(failure)[:600]}", flush=True)
            time.sleep(1)
            return function(*args)
    tries.__name__ = function.__name__
    return tries


def _clean():
    for process in list(_own):
        stop(process)
    if _scratch:
        shutil.rmtree(_scratch, ignore_errors=True)


atexit.register(_clean)


def _ended(signum, frame):
    raise SystemExit(128 + signum)


signal.signal(signal.SIGTERM, _ended)


def main():
    names = sys.argv[1:]
    failed = 0
    try:
        for function in _tests:
            if names and function.__name__ not in names:
                continue
            began = time.monotonic()
            try:
                function()
                print(f"ok {function.__name__}", flush=True)
            except Skip as reason:
                print(f"skip {function.__name__} {reason}", flush=True)
            except Failure as failure:
                failed += 1
                print(f"# {failure}".replace("\n", "\n# "), flush=True)
                print(f"not ok {function.__name__}", flush=True)
            except Exception:
                failed += 1
                print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
                print(f"not ok {function.__name__}", flush=True)
            seconds = time.monotonic() - began
            if seconds > 20 or os.environ.get("TIMES"):
                print(f"# {function.__name__} took {seconds:.0f} s", flush=True)
    except KeyboardInterrupt:
        failed += 1
    sys.exit(1 if failed else 0)
