# SPDX-License-Identifier: Apache-2.0
"""What is printed: tables and annotated source agree with the file, filters and
limits do what they say, a pipe gets plain text."""
import os
import re

import pprof
from everline import PROGRAMS, build, check, everline, line_of, main, record, scratch, test

GNU = ("-O2", "-g", "-D_GNU_SOURCE")
VIEWS = ("line", "function", "file", "module", "process", "thread")
_made = []


def profile():
    """One recording of the calibrated program, for all tests here."""
    if not _made:
        plugin = build("plugin-normal.so", "plugin.c", flags=(*GNU, "-fPIC", "-shared"))
        program = build("calibrated-normal", "calibrated.c", flags=GNU, link=("-lpthread", "-ldl"))
        folder = os.path.join(scratch(), "shared")
        os.mkdir(folder)
        _made.append(record("-F", 499, "--", program, 3, plugin, folder=folder)[1])
    return _made[0]


def annotate(*args):
    return everline("annotate", profile().path, *args).ok().out


@test
def tables_agree_with_the_file_and_with_themselves():
    total = profile().total(-1)
    for by in VIEWS:
        table = everline("report", profile().path, "--by", by, "--json").ok().json()
        rows = table["rows"]
        check(table["total"] == total, f"{by}: total", table["total"], total)
        check(sum(row["flat"] for row in rows) == total, f"{by}: the sum of flat is the total")
        check(all(row["flat"] <= row["cum"] <= total for row in rows), f"{by}: flat <= cum <= total")
        check(abs(rows[-1]["sum_percent"] - 100) < 1e-6, f"{by}: sum% ends at 100:", rows[-1])
        check([row["flat"] for row in rows] == sorted((row["flat"] for row in rows), reverse=True), f"{by}: order")
        for row in rows:
            check(row["low_percent"] <= row["flat_percent"] <= row["high_percent"], f"{by}: interval:", row)


@test
def functions_in_the_table_are_those_in_the_file():
    rows = everline("report", profile().path, "--by", "function", "--json").ok().json()["rows"]
    flat, cum = profile().flat(pprof.function_key, -1), profile().cum(pprof.function_key, -1)
    for name in ("plain", "with_macro", "recursion", "divide", "heavy", "plugin"):
        row = [row for row in rows if row["name"] == name]
        check(len(row) == 1, f"{name}: one row:", row)
        check(row[0]["flat"] == flat[name], f"{name}: flat", row[0], flat[name])
        check(row[0]["cum"] == cum[name], f"{name}: cum, recursion once", row[0], cum[name])


@test
def text_tables_have_pprofs_columns():
    for by in VIEWS:
        out = everline("report", profile().path, "--by", by).ok().out
        head = [line for line in out.splitlines() if re.match(r"\s*flat\s+flat%\s+sum%\s+cum\s+cum%", line)]
        check(len(head) == 1, f"{by}: the head of the table:", out)


@test
def heading_and_counters_are_in_every_report():
    for args in ((), ("--by", "function"), ("--by", "line")):
        out = everline("report" if args else "annotate", profile().path, *args).ok().out
        for word in ("wall", "CPU", "cores", "samples", "±", "lost", "native", "counters:"):
            check(word in out, f"{word!r} in", out)
        books = out[out.index("counters:"):].splitlines()[0]
        for name, value in ((n, v) for n, v in profile().counters.items() if v):
            check(f"{name} {value}" in books, f"{name} {value} in the one line of counters:", books)


@test
def annotated_source_has_its_text_beside_the_share():
    out = annotate()
    line = line_of("calibrated.c", "thread")
    row = [r for r in out.splitlines() if re.search(rf"\b{line}\b.*\|?.*/\* thread \*/", r)]
    check(len(row) == 1, f"line {line} with its text:", out)
    seen = float(re.findall(r"\d+\.\d", row[0])[0])
    true = 100 * profile().flat_lines(-1)[f"calibrated.c:{line}"] / profile().total(-1)
    check(abs(seen - true) < 0.11, "its self share:", row[0], true)
    # Cold lines in between are there for context, without a number and never with a 0.
    check([r for r in out.splitlines() if re.match(r"\s+\|\s*\d+\s", r)], "cold lines:", out)
    check(not re.search(r"^\s*0\.0\s", out, re.M), "no share is shown as 0:", out)
    place = [i for i, r in enumerate(out.splitlines()) if "calibrated.c" in r]
    check(place, "the file is named")


@test
def first_screen_is_one_screen_and_all_shows_the_rest():
    out, everything = annotate(), annotate("--all")
    numbered = [r for r in out.splitlines() if re.search(r"\|\s*\d+|\d+\s*\|", r)]
    check(len(numbered) <= 60, f"{len(numbered)} source lines on the first screen")
    check("--all" in out, "what is left out is named:", out)
    check(len(everything.splitlines()) >= len(out.splitlines()), "--all is not shorter")


@test
def filters_leave_only_what_matches():
    for pattern in ("plugin.c", "*plugin*"):
        out = annotate("--file", pattern)
        check("/* plugin */" in out and "/* thread */" not in out, pattern, out)
    out = annotate("--function", "divide")
    check("/* divide */" in out and "/* plain */" not in out, out)
    out = annotate("--min", "20")
    check("/* thread */" in out and "/* light */" not in out, out)
    narrow, wide = annotate("--function", "divide", "--context", "0"), annotate("--function", "divide", "--context", "6")
    check(len(wide.splitlines()) > len(narrow.splitlines()) + 3, "--context:", narrow, wide)


@test
def rules_say_whose_code_it_is():
    out = annotate("--library", "*plugin.c")
    data = everline("report", profile().path, "--by", "line", "--json", "--library", "*plugin.c").ok().json()
    mine = {os.path.basename(row.get("file", "")): row["mine"] for row in data["rows"]}
    check(mine["calibrated.c"] is True and mine["plugin.c"] is False, mine)
    check(out.index("calibrated.c") < (out + "plugin.c").index("plugin.c"), "the user's own comes first:", out)


@test
def plain_text_in_a_pipe_and_colour_when_asked():
    for args in (("annotate", profile().path), ("report", profile().path, "--by", "line")):
        check("\x1b" not in everline(*args).ok().out, "no escape in a pipe:", args)
        check("\x1b[" in everline(*args, "--color=always").ok().out, "colour when asked:", args)


@test
def annotate_as_json_is_complete():
    data = everline("annotate", profile().path, "--json").ok().json()
    check(data["total"] == profile().total(-1), "total", data["total"])
    check({c["name"]: c["value"] for c in data["counters"]} == profile().counters, "counters", data["counters"])
    check("calibrated.c" in str(data), "files")


@test
def inlined_library_code_is_credited_to_the_users_line():
    program = build("shapes", "shapes.cc", flags=("-O2", "-g", "-fno-omit-frame-pointer"), compiler="g++")
    _, recorded = record("-F", 997, "--", program, 1000)
    out = everline("annotate", recorded.path).ok().out
    check("// area" in out or "// grow" in out, "the user's own lines are shown:", out)
    headers = [i for i, r in enumerate(out.splitlines()) if "/include/" in r or "stl_" in r]
    own = [i for i, r in enumerate(out.splitlines()) if "shapes.cc" in r]
    check(not headers or own and own[0] < headers[0], "own files first:", out)


@test
def labels_are_those_promised():
    types = profile().types
    check(types == [("samples", "count"), ("cpu", "nanoseconds")], types)
    for sample in profile().samples:
        labels = sample.labels
        check(isinstance(labels.get("pid"), int) and isinstance(labels.get("tid"), int), labels)
        check(labels.get("comm") == "calibrated-norm", labels)
        check("thread" in labels and "cgroup" in labels, labels)
    check(any("calibrated-normal" in comment for comment in profile().comments), "the command:", profile().comments)
    check(any("kept" in comment for comment in profile().comments), "the counters:", profile().comments)
    ids = {m.file.rsplit("/", 1)[-1]: m.build_id for m in profile().mappings.values()}
    check(re.fullmatch("[0-9a-f]{40}", ids.get("calibrated-normal", "")), "build IDs:", ids)
    check(profile().private and min(profile().private) >= 1000, "private fields:", profile().private)


@test
def file_is_small():
    size, samples = os.path.getsize(profile().path), profile().total()
    check(size < 24 * 1024 + 4 * samples, f"{size} bytes for {samples} samples, names included")


main()
