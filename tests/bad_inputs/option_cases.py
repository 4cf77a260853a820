"""Command lines that are wrong, or odd, in one option: all options of all commands, as the tool tells them itself."""

import json
import os
import subprocess

import tool

# Values of each class; a case takes one of them.
VALUES = {
    "empty": [""],
    "garbage": ["x", " ", "=", "x=", "=x", "a=b=c", "[", "null", "%s%n", ",", "1,2", "--", "0x10", "1.5"],
    "huge": ["18446744073709551616", "9" * 400, "1e308", "x" * 5000],
    "negative": ["-1", "-9223372036854775809", "-0.5", "-"],
    "no number": ["nan", "-nan", "inf", "1e9", "١"],
    "unicode": ["grün", "\u2028", "\udcff\udcfe", "\ufeff"],
    "control characters": ["\x1b[31m\x07", "a\nb", "\t", "\x7f"],
    "missing path": ["missing", "nowhere/file", "file/below", "loop"],
    "path of the wrong kind": ["folder", "pipe", "/dev/zero", "folder/"],
    "path that takes nothing": ["/dev/full", "/proc/nowhere", "/proc/self/status"],
    "content of the wrong kind": ["file", "empty", "good.mlir", "program.elf"],
    "input": ["name=folder", "x=file", "x=pipe", "x=missing", "0=file", "x=0:int8:4", "x=99999999999999999999:int8:4"],
}
# What makes a command's line valid; a positional argument or an option that is missing here is given "x".
POSITIONAL = {"MODEL": "good.mlir", "PROGRAM": "program.elf", "SOURCE": "program.s", "REPORT": "report.json", "EXPERIMENT": "experiment.yaml"}
REQUIRED = {"--output": "out", "--slice": "1", "--task": "0", "--seconds": "5", "--mebibytes": "100"}
SHORT = {("compile",): ["--output", "out"], ("fuzz",): ["--count", "2", "--length", "20", "--jobs", "1"], ("isa", "doc"): ["--output", "out"]}


def make_surroundings(scratch):
    (scratch / "folder").mkdir()
    (scratch / "file").write_text("content\n")
    (scratch / "empty").write_text("")
    (scratch / "loop").symlink_to("loop")
    os.mkfifo(scratch / "pipe")


def commands():
    """{command: options} of the tool."""
    told = subprocess.run([tool.TOOL, "options"], check=True, capture_output=True, text=True).stdout
    return {tuple(each["command"]): each["options"] for each in json.loads(told)}


def inputs_of(options, without):
    """The good files that a line of the command reads."""
    return [POSITIONAL[each["positional"]] for each in options if each is not without and each["positional"] in POSITIONAL]


def base(command, options, without):
    """A valid line of `command` but for the option `without`."""
    line, short = [], list(SHORT.get(command, []))
    for option in options:
        if option is without:
            continue
        if option["positional"]:
            line += [POSITIONAL.get(option["positional"], "x")] if option["required"] or option["positional"] in POSITIONAL else []
        elif option["required"] and option["names"][-1] not in short:
            line += [option["names"][-1], REQUIRED.get(option["names"][-1], "x")]
    while short:
        name, value, *short = short
        if without is None or name not in without["names"]:
            line += [name, value]
    return [*command, *line]


def lines_of(command, options, option, draw):
    """(class, arguments) of each class of wrong values for the option."""
    line = base(command, options, option)
    name = option["names"][-1] if option["names"] else None
    if not option["takes_value"]:
        yield "twice", [*line, name, name]
        for value in ("x", "", "-1"):
            yield "value", [*line, f"{name}={value}"]
        return
    if name:
        yield "no value", [*line, name]
        yield "twice", [*line, name, "1", name, "1"]
    for kind, values in {**VALUES, "its own input": inputs_of(options, option) or ["file"]}.items():
        value = draw.choice(values)
        yield kind, [*line, *([f"{name}={value}"] if name and draw.random() < 0.5 else [name, value] if name else [value])]


def cases(draw):
    """(name, arguments, files that must stay) of all."""
    for command, options in commands().items():
        for option in options:
            name = " ".join([*command, option["names"][-1] if option["names"] else option["positional"]])
            for kind, arguments in lines_of(command, options, option, draw):
                yield f"{name}: {kind}", arguments, inputs_of(options, option)
