"""Reads the description's subset of YAML (docs/isa.md): maps, lists and scalars, blocks outside, brackets inside. For files that are known to be good."""

import re

COMMENTED = re.compile(r'"(?:[^"\\]|\\.)*"|(?:^|\s)#.*|.')
SCALAR = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,\]}:\s][^,\]}:]*)')


def read(path):
    """Maps as dicts, lists as lists, scalars as strings."""
    lines = []
    for line in path.read_text().splitlines():
        text = "".join(part for part in re.findall(COMMENTED, line) if not part.lstrip().startswith("#")).rstrip()
        if text and lines and depth("\n".join(lines[-1])) > 0:
            lines[-1].append(text)
        elif text:
            lines.append([text])
    return block([" ".join(part.strip() if i else part for i, part in enumerate(line)) for line in lines])


def depth(text):
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    return sum(bare.count(c) for c in "[{") - sum(bare.count(c) for c in "]}")


def block(lines):
    indent = len(lines[0]) - len(lines[0].lstrip())
    made = [] if lines[0].lstrip().startswith("- ") else {}
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
            end += 1
        line = lines[at].strip()
        if isinstance(made, list):
            made.append(block([" " * (indent + 2) + line[2:], *lines[at + 1:end]]))
        else:
            key, value = re.fullmatch(r'([^\s:{\["]+):\s*(.*)', line).groups()
            made[key] = flow(value)[0] if value else block(lines[at + 1:end])
        at = end
    return made


def flow(text):
    """(value, what follows it)"""
    text = text.lstrip()
    if text[0] == "{":
        made, rest = {}, text[1:].lstrip()
        while rest[0] != "}":
            key, rest = re.match(r"([^\s:]+):\s*(.*)", rest, re.S).groups()
            made[key], rest = flow(rest)
            rest = rest.lstrip().removeprefix(",").lstrip()
        return made, rest[1:]
    if text[0] == "[":
        made, rest = [], text[1:].lstrip()
        while rest[0] != "]":
            value, rest = flow(rest)
            made.append(value)
            rest = rest.lstrip().removeprefix(",").lstrip()
        return made, rest[1:]
    match = SCALAR.match(text)
    return (match[1] if match[1] is not None else match[2].strip()), text[match.end():]
