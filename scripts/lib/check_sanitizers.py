#!/usr/bin/env python3
"""Unit tests and pass tests under ASan and UBSan: all of them, or those of some test programs, drawn from a seed."""

import argparse
import os
import subprocess
import sys

import sanitized

# SystemC switches stacks by itself, which a fake stack would break. Leaks are looked for too; what LLVM and SystemC keep until the
# process ends is reachable and so not reported. LLVM's allocators poison what they have not given out yet: a slab that instrumented
# code took is poison to Debian's libMLIR, which is not instrumented and gives out of it, too.
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0:allow_user_poisoning=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=1, metavar="N", help="one of N test programs (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of which they are (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once (default: one a core)")
    parser.add_argument("--build-only", action="store_true", help="build the programs and the fuzz targets, run nothing")
    arguments = parser.parse_args()
    sanitized.configure()
    programs = sanitized.drawn(sanitized.programs(), arguments.share, arguments.seed)
    print(f"sanitizers: {', '.join(programs)}", flush=True)
    sanitized.build([*programs, *(sanitized.fuzzers() if arguments.build_only else [])], arguments.jobs)
    if arguments.build_only:
        return 0
    only = [argument for name in programs for argument in ("--only", name)]
    return subprocess.run([sys.executable, sanitized.ROOT / "scripts" / "lib" / "run_tests.py", sanitized.BUILD, "--name", "sanitizers",
                           "--jobs", str(arguments.jobs), *only], env={**os.environ, **OPTIONS}).returncode


if __name__ == "__main__":
    sys.exit(main())
