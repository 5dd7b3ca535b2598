# SPDX-License-Identifier: Apache-2.0
"""Shares of calibrated lines, conservation of CPU time, lockstep and the exact oracle, over several runs."""
import json
import math
import statistics

import bench
import pprof
from bench import ROUNDS, row, spread
from everline import build, line_of, record

flags = ("-O2", "-g", "-D_GNU_SOURCE")
plugin = build("plugin-normal.so", "plugin.c", flags=(*flags, "-fPIC", "-shared"))
program = build("calibrated-normal", "calibrated.c", flags=flags, link=("-lpthread", "-ldl"))
divide = line_of("calibrated.c", "divide")

inside, inside_slack, checks, worst, ratios, guilty = 0, 0, 0, 0, [], []
for _ in range(ROUNDS):
    result, profile = record("-F", 997, "--", program, 5, plugin)
    truth = json.loads(result.ok().out)
    lines, n, total = profile.flat_lines(-1), profile.total(0), profile.total(-1)
    ratios.append(total / truth["cpu_ns"])
    loop = sum(lines[f"calibrated.c:{at}"] for at in range(divide - 1, divide + 2))
    guilty.append(lines[f"calibrated.c:{divide}"] / loop)
    lines[f"calibrated.c:{divide}"] = loop
    for line, ns in truth["lines"].items():
        true, seen = ns / truth["cpu_ns"], lines[line] / total
        half = 1.96 * math.sqrt(true * (1 - true) / n)
        checks += 1
        inside += abs(seen - true) <= half
        inside_slack += abs(seen - true) <= half + 0.005
        worst = max(worst, abs(seen - true))
row(f"calibrated lines in their 95 % interval, {ROUNDS} runs at 997 Hz", "", f"{inside} of {checks}")
row("calibrated lines in their 95 % interval + 0.5 points", "all", f"{inside_slack} of {checks}, worst {worst:.2%}",
    inside_slack == checks)
row("samples of the division's loop on the division's line", ">= 80 %", spread(guilty, "{:.0%}"), min(guilty) >= 0.8)
row("sum of weights / CPU time, median", "0.99-1.01", spread(ratios, "{:.4f}"), 0.99 <= statistics.median(ratios) <= 1.01)

lockstep = build("lockstep", "lockstep.c")
for hz, period in ((99, 10101010), (997, 1003009)):
    seen, true = [], []
    for _ in range(max(2, ROUNDS // 2)):
        result, profile = record("-F", hz, "--", lockstep, period, 8)
        functions = profile.cum(pprof.function_key, -1)
        seen.append(100 * functions["hot"] / (functions["hot"] + functions["cold"]))
        true.append(100 * float(result.ok().out))
    row(f"locked to the sampler's own period, {hz} Hz, true {spread(true, '{:.1f}')} %", "15-25 %",
        spread(seen, "{:.1f}") + " %", all(15 <= s <= 25 for s in seen))

faults = build("faults", "faults.c")
key = f"faults.c:{line_of('faults.c', 'first')}"
counts = {record("-e", "page-faults", "-c", 1, "--", faults, 5000, 1234)[1].flat_lines(-1)[key] for _ in range(ROUNDS)}
row("page faults on a line that faults 5000 times", "5000", " ".join(map(str, sorted(counts))), counts == {5000})
bench.end()
