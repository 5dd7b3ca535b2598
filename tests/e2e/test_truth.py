# SPDX-License-Identifier: Apache-2.0
"""Reports against programs that know the truth: exact counts of page faults,
measured CPU shares of lines, conservation of CPU time, and lockstep."""
import json
import math
import os

import pprof
from everline import build, check, everline, laws, line_of, main, record, test, twice

N, M = 5000, 1234
GNU = ("-O2", "-g", "-D_GNU_SOURCE")
FP = ("-fno-omit-frame-pointer",)


def calibrated(kind, flags):
    plugin = build(f"plugin-{kind}.so", "plugin.c", flags=(*flags, "-fPIC", "-shared"))
    return build(f"calibrated-{kind}", "calibrated.c", flags=flags, link=("-lpthread", "-ldl")), plugin


@test
def page_faults_are_counted_exactly_every_run():
    program = build("faults", "faults.c")
    for _ in range(3):
        result, profile = record("-e", "page-faults", "-c", 1, "--", program, N, M)
        result.ok()
        lines = profile.flat_lines(-1)
        first, second = line_of("faults.c", "first"), line_of("faults.c", "second")
        check(lines[f"faults.c:{first}"] == N, f"first line: {lines[f'faults.c:{first}']} faults, not {N}")
        check(lines[f"faults.c:{second}"] == M, f"second line: {lines[f'faults.c:{second}']} faults, not {M}")
        by_function = profile.cum(pprof.function_key, -1)
        check(by_function["first"] == N and by_function["second"] == M, "by function:", by_function)
        laws(profile, clock=False)


@test
def page_faults_by_line_are_printed_exactly():
    program = build("faults", "faults.c")
    _, profile = record("-e", "page-faults", "-c", 1, "--", program, N, M)
    table = everline("report", profile.path, "--by", "line").ok().out
    for mark, wanted in (("first", N), ("second", M)):
        rows = [row for row in table.splitlines() if f"faults.c:{line_of('faults.c', mark)}" in row]
        check(len(rows) == 1, f"one row for {mark}:", table)
        check(rows[0].replace(",", "").split()[0] == str(wanted), f"{wanted} faults:", rows[0])


def interval(share, n):
    """Half of the 95 % interval of a share seen in n samples, with half a point of slack."""
    return 1.96 * math.sqrt(share * (1 - share) / n) + 0.005


def calibrated_lines(kind, flags):
    program, plugin = calibrated(kind, flags)
    result, profile = record("-F", 997, "--", program, 4, plugin)
    truth = json.loads(result.ok().out)
    laws(profile)
    n, total = profile.total(0), profile.total(-1)
    check(n > 1000, f"only {n} samples")
    lines = profile.flat_lines(-1)
    divide = f"calibrated.c:{line_of('calibrated.c', 'divide')}"
    after = f"calibrated.c:{line_of('calibrated.c', 'after the division')}"
    wrong = []
    check(len(truth["lines"]) == 9, "the program's truth:", truth)
    for line, ns in truth["lines"].items():
        true, seen = ns / truth["cpu_ns"], lines[line] / total
        if line == divide:  # measured for the loop as a whole
            seen += lines[after] / total + lines[f"calibrated.c:{int(divide[13:]) - 1}"] / total
        if abs(seen - true) > interval(true, n):
            wrong.append(f"{line}: true {true:.2%}, seen {seen:.2%}, n {n}")
    check(not wrong, "; ".join(wrong))
    check(lines[divide] > 4 * lines[after], "the division's own line:", lines[divide], lines[after])
    return profile, truth, total, n


@test
@twice
def calibrated_lines_are_inside_their_interval():
    calibrated_lines("normal", GNU)


@test
@twice
def calibrated_lines_with_frame_pointers_are_inside_their_interval():
    profile, truth, total, n = calibrated_lines("fp", GNU + FP)
    # Inlined code: its own line holds the time, the two call lines 1:3 of it.
    cum = profile.cum_lines(-1)
    inlined = truth["lines"][f"calibrated.c:{line_of('calibrated.c', 'inlined')}"] / truth["cpu_ns"]
    for mark, part in (("inlined once", 0.25), ("inlined thrice", 0.75)):
        seen = cum[f"calibrated.c:{line_of('calibrated.c', mark)}"] / total
        check(abs(seen - inlined * part) <= interval(inlined * part, n), f"{mark}: {seen:.2%} of", inlined)
    # Recursion counts once: its line's total is not more than the function's.
    recursion = truth["lines"][f"calibrated.c:{line_of('calibrated.c', 'recursion')}"] / truth["cpu_ns"]
    seen = profile.cum(pprof.function_key, -1)["recursion"] / total
    check(abs(seen - recursion) <= interval(recursion, n), f"recursion: {seen:.2%}, true {recursion:.2%}")
    threads = {s.labels.get("thread") for s in profile.samples}
    check("second" in threads, "the second thread has its name:", threads)


@test
@twice
def cpu_time_is_conserved():
    program, plugin = calibrated("normal", GNU)
    result, profile = record("-F", 997, "--", program, 5, plugin)
    truth = json.loads(result.ok().out)["cpu_ns"]
    ratio = profile.total(-1) / truth
    # On a machine that others use too, which ticks hit us is chance: as a share of the CPUs we asked for.
    share = min(1, truth / (min(2, os.cpu_count()) * 5e9))
    slack = 0.01 + 1.96 * math.sqrt((1 - share) / profile.total())
    check(abs(ratio - 1) <= slack, f"sum of weights / CPU time = {ratio:.4f}, not within {slack:.4f} of 1")


@test
@twice
def program_locked_to_the_sampling_period_reads_its_true_share():
    program = build("lockstep", "lockstep.c")
    result, profile = record("-F", 99, "--", program, 10101010, 8)
    true = float(result.ok().out)
    functions = profile.cum(pprof.function_key, -1)
    seen = functions["hot"] / (functions["hot"] + functions["cold"])
    check(0.15 < true < 0.25, "the program itself was off:", true)
    check(0.15 <= seen <= 0.25, f"true {true:.1%}, seen {seen:.1%}")


@test
def user_only_leaves_the_kernel_out():
    program = build("kernel", "kernel.c")
    everything = record("-F", 499, "--", program, 2)[1]
    user = record("-F", 499, "--user-only", "--", program, 2)[1]
    check(everything.flat(pprof.in_kernel)[True] > 0.5 * everything.total(), "kernel code shows by default")
    check(user.cum(pprof.in_kernel)[True] == 0, "no kernel frame is left:", user.cum(pprof.in_kernel))
    laws(user)


main()
