# SPDX-License-Identifier: Apache-2.0
"""Names and lines of compiled code: C without symbols, C++, Rust, the kernel,
binaries that were deleted or replaced, files that are damaged."""
import os
import random
import shutil
import struct

import pprof
from everline import (BUILD, Skip, build, check, laws, line_of, main, need_tool, record, run, scratch, start, stop,
                      test)

GNU = ("-O2", "-g", "-D_GNU_SOURCE", "-fno-omit-frame-pointer")


def copy(path, name):
    target = os.path.join(scratch(), name)
    shutil.copy(path, target)
    return target


@test
def program_without_symbols_has_one_row_per_function():
    need_tool("strip")
    plugin = build("plugin-normal.so", "plugin.c", flags=("-O2", "-g", "-D_GNU_SOURCE", "-fPIC", "-shared"))
    program = copy(build("calibrated-normal", "calibrated.c", flags=("-O2", "-g", "-D_GNU_SOURCE"),
                         link=("-lpthread", "-ldl")), "nameless")
    check(run("strip", "--strip-all", program).status == 0, "strip")
    result, profile = record("-F", 997, "--", program, 2, plugin)
    result.ok()

    def own(frame):
        return frame.function if frame.mapping and frame.mapping.file.endswith("nameless") else None
    rows = profile.flat(own)
    rows.pop(None)
    total = sum(rows.values())
    check(total > 500, "samples in the program:", rows)
    hot = [row for row in rows if rows[row] > 0.01 * total]
    check(5 <= len(hot) <= 9, "seven functions are hot, one row each:", rows)
    check(all("+0x" in row or row for row in rows), "each has a name of its own:", rows)
    check(sum(rows[row] for row in hot) > 0.97 * total, "no row per address:", rows)


@test
def separate_debug_file_is_found_by_link():
    need_tool("objcopy", "strip")
    program = copy(build("service", "service.c", flags=GNU), "linked")
    run("objcopy", "--only-keep-debug", program, program + ".debug").ok()
    run("strip", "--strip-all", program).ok()
    run("objcopy", f"--add-gnu-debuglink={program}.debug", program).ok()
    service = start(program, ready="ready")
    _, profile = record("-F", 499, "-d", 1, "-p", service.pid)
    stop(service)
    check(profile.flat(pprof.function_key)["main_work"] > 100, profile.flat(pprof.function_key))
    check(any(line.startswith("service.c:") for line in profile.flat_lines()), profile.flat_lines())


@test
def compressed_debug_sections_are_read():
    program = build("service-zlib", "service.c", flags=(*GNU, "-gz=zlib"))
    service = start(program, ready="ready")
    _, profile = record("-F", 499, "-d", 1, "-p", service.pid)
    stop(service)
    check(any(line.startswith("service.c:") for line in profile.flat_lines()), profile.flat_lines())


@test
def dwarf_versions_two_to_five_give_the_same_line():
    for version in (2, 3, 4, 5):
        program = build(f"faults-dwarf{version}", "faults.c", flags=("-O2", f"-gdwarf-{version}", "-gstrict-dwarf"))
        _, profile = record("-e", "page-faults", "-c", 1, "--", program, 300, 200)
        key = f"faults.c:{line_of('faults.c', 'first')}"
        check(profile.flat_lines()[key] == 300, f"DWARF {version}:", profile.flat_lines())


@test
def position_dependent_program_has_lines():
    program = build("faults-static", "faults.c", flags=("-O2", "-g", "-no-pie", "-static"))
    _, profile = record("-e", "page-faults", "-c", 1, "--", program, 300, 200)
    check(profile.flat_lines()[f"faults.c:{line_of('faults.c', 'first')}"] == 300, profile.flat_lines())


@test
def vdso_has_names_after_the_process_ended():
    _, profile = record("-F", 997, "--", build("clock", "clock.c"), 500)
    rows = profile.flat(pprof.function_key)
    named = sum(n for name, n in rows.items() if "clock_gettime" in str(name))
    check(named > 0.5 * sum(rows.values()), rows)


@test
def cpp_names_are_demangled_and_lines_right():
    program = build("shapes", "shapes.cc", flags=("-O2", "-g", "-fno-omit-frame-pointer"), compiler="g++")
    _, profile = record("-F", 997, "--", program, 1500)
    functions = profile.cum(pprof.function_key)
    total = profile.total()
    for name in ("shapes::circle::grow(int)", "double shapes::area<double>", "unsigned long shapes::area<unsigned long>"):
        found = sum(n for function, n in functions.items() if name in function)
        check(found > 0.05 * total, f"{name}:", functions.most_common(8))
    check(not any(f.startswith("_Z") for f in functions), "no mangled name is left")
    lines = profile.cum_lines()
    check(lines[f"shapes.cc:{line_of('shapes.cc', 'grow')}"] > 0.15 * total, "the line of grow():", lines.most_common(8))


@test
def rust_names_are_demangled_and_the_users_line_is_credited():
    if not shutil.which("rustc"):
        raise Skip("rustc is not installed")
    for mangling in ("legacy", "v0"):
        extra = ("-Csymbol-mangling-version=v0",) if mangling == "v0" else ()
        program = build(f"rusty-{mangling}", "rusty.rs", compiler="rustc",
                        flags=("-O", "-g", "-Cforce-frame-pointers=yes", *extra))
        result, profile = record("-F", 997, "--", program, 1500)
        result.ok()
        functions = profile.cum(pprof.function_key)
        total = profile.total()
        grow = sum(n for f, n in functions.items() if "Square" in f and "grow" in f)
        check(grow > 0.2 * total, f"{mangling}: <rusty::Square as rusty::Shape>::grow:", functions.most_common(8))
        check(not any(f.startswith(("_ZN", "_R")) for f in functions), f"{mangling}: no mangled name is left")
        check(not any("::h" in f and len(f.rsplit("::h", 1)[1]) == 16 for f in functions), "no hash is left")
        line = f"rusty.rs:{line_of('rusty.rs', 'grow')}"
        check(profile.cum_lines()[line] > 0.2 * total, f"{mangling}: {line}", profile.cum_lines().most_common(8))


@test
def kernel_functions_have_names_and_callers():
    program = build("kernel", "kernel.c", flags=GNU)
    with open("/proc/kallsyms") as f:
        if all(line.startswith("0" * 16) for _, line in zip(range(200), f)):
            raise Skip("the kernel hides its symbol addresses")
    _, profile = record("-F", 499, "--", program, 2)
    names = profile.cum(lambda frame: frame.function if pprof.in_kernel(frame) else None)
    total = profile.total()
    check(any("vfs_read" in (n or "") or "read_zero" in (n or "") for n in names), names.most_common(12))
    inside = [s for s in profile.samples if s.frames and pprof.in_kernel(s.frames[0])]
    check(sum(s.values[0] for s in inside) > 0.5 * total, "most time is in the kernel")
    first = next(s for s in inside if any(not pprof.in_kernel(f) for f in s.frames))
    kinds = [pprof.in_kernel(f) for f in first.frames]
    check(kinds == sorted(kinds, reverse=True), "kernel frames come before user frames:", first.frames)


@test
def deleted_binary_keeps_its_names():
    program = copy(build("service", "service.c", flags=GNU), "deleted")
    service = start(program, ready="ready")
    os.unlink(program)
    _, profile = record("-F", 499, "-d", 1, "-p", service.pid)
    stop(service)
    check(profile.flat(pprof.function_key)["main_work"] > 100, profile.flat(pprof.function_key).most_common(5))


@test
def replaced_binary_is_never_read_in_its_place():
    program = copy(build("service", "service.c", flags=GNU), "replaced")
    service = start(program, ready="ready")
    shutil.copy(build("storm", "storm.c", flags=GNU), program + ".new")
    os.rename(program + ".new", program)
    _, profile = record("-F", 499, "-d", 1, "-p", service.pid)
    stop(service)
    functions = profile.flat(pprof.function_key)
    check(functions["main_work"] > 100, "the names of what really runs:", functions.most_common(5))
    check(not any("storm" in line for line in profile.flat_lines()), "no line of the other program")


def sections(elf):
    """{name: (offset of its header, offset, size)} of a 64-bit ELF."""
    start, = struct.unpack_from("<Q", elf, 0x28)
    size, n, names = struct.unpack_from("<3H", elf, 0x3A)
    headers = [(start + i * size, *struct.unpack_from("<I12xQQQ", elf, start + i * size)) for i in range(n)]
    strings = headers[names][3]
    return {elf[strings + h[1]:elf.index(b"\0", strings + h[1])].decode(): (h[0], h[3], h[4]) for h in headers}


def damages(whole):
    """Copies of a program that still run, since what is loaded is left alone."""
    parts = sections(whole)
    loaded = max(parts[name][1] + parts[name][2] for name in (".data", ".dynamic", ".eh_frame"))
    yield "cut after what is loaded", whole[:loaded]
    for name, offset, form, value in (("section headers beyond the end", 0x28, "<Q", 1 << 60),
                                      ("65535 sections", 0x3C, "<H", 65535),
                                      ("names in a section that is not there", 0x3E, "<H", 65000)):
        damaged = bytearray(whole)
        struct.pack_into(form, damaged, offset, value)
        yield name, damaged
    for name in (".debug_info", ".debug_abbrev", ".debug_line", ".symtab", ".strtab"):
        damaged = bytearray(whole)
        header, start, size = parts[name]
        damaged[start:start + size] = random.Random(name).randbytes(size)
        yield f"noise in {name}", damaged
        damaged = bytearray(whole)
        struct.pack_into("<Q", damaged, header + 32, 1 << 62)
        yield f"{name} of 4 EiB", damaged


@test
def damaged_binaries_do_not_harm():
    with open(build("service", "service.c", flags=GNU), "rb") as f:
        whole = f.read()
    tried = list(damages(whole))
    services = {}
    for i, (name, elf) in enumerate(tried):
        program = os.path.join(scratch(), f"damaged{i}")
        with open(program, "wb") as f:
            f.write(elf)
        os.chmod(program, 0o755)
        services[name] = start(program, ready="ready")
    check(len(services) == 14, sorted(services))
    pids = {service.pid: name for name, service in services.items()}
    result, profile = record("-F", 997, "-d", 4, "-p", ",".join(map(str, pids)), timeout=60)
    for service in services.values():
        stop(service)
    result.ok()
    for pid, name in pids.items():
        check(profile.total(0, lambda s: s.labels["pid"] == pid) > 20, f"{name}: its samples are kept")
    functions = profile.flat(pprof.function_key)
    check(functions["main_work"] > 0.2 * profile.total(), "what is undamaged still serves:", functions.most_common(9))
    laws(profile)


@test
def example_of_the_library_answers_like_addr2line():
    example = os.path.join(BUILD, "everline-symbolize")
    need_tool("nm", "addr2line")
    program = build("calibrated-normal", "calibrated.c", flags=("-O2", "-g", "-D_GNU_SOURCE"),
                    link=("-lpthread", "-ldl"))
    # Without the suffix of a copy the compiler made, as in plain.constprop.0.
    symbols = {line.split()[2].split(".")[0]: line.split()[0] for line in run("nm", program).ok().out.splitlines()
               if len(line.split()) == 3}
    for name in ("plain", "inliner", "recursion", "divide"):
        address = f"0x{int(symbols[name], 16) + 20:x}"
        ours = run(example, "-f", "-i", "-e", program, address).ok().out.split()
        theirs = run("addr2line", "-f", "-i", "-e", program, address).ok().out.split()
        theirs = [word for word in theirs if word not in ("(discriminator",) and not word.endswith(")")]
        check([os.path.basename(w) for w in ours] == [os.path.basename(w) for w in theirs], name, ours, theirs)


main()
