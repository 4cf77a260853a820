"""Deterministic ways to corrupt a valid file: each takes a random.Random and content, and gives other content."""

import re

EXTREMES = [0, 1, 2, 7, 8, 127, 128, 255, 256, 32767, 32768, 65535, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1,
            2**63, 2**64 - 1, -1, -2, -128, -2**31, -2**63]
NUMBERS = [*map(str, EXTREMES), "1e308", "-1e308", "nan", "inf", "-inf", "0x", "0xfffffffffffffffff", "1_000", "9" * 400, "-0", "1.5",
           "00", "١"]
JUNK = ["", "\0", "\x1b[31m", "\ufeff", "\u2028", "%s%n", "'", '"', "\\", "\r", "\t", "{", "}", "[", "]", "(", ")", "<", ">", ":", ",", "=",
        "&a", "*a", "!!", "#", "//", "é", "x" * 5000, "[" * 3000, "(" * 3000, "{" * 3000, "- " * 2000, "../../x", "/dev/zero", "null", "true",
        # Words of the formats, where they may not stand.
        "f64", "f16", "bf16", "i1", "i4", "i16", "i48", "i64", "index", "none", "?", "tensor<*xf32>", "dense<>", "halt", "acc", "dram", "name"]
TOKEN = re.compile(r"\s+|[%@!#]?[\w.]+|->|.", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def cut(rng, content):
    return content[: rng.randrange(len(content))] if content else content


def flip(rng, content):
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(rng, content):
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(changed)


def set_number(rng, content):
    """An integer of 1, 2, 4 or 8 bytes anywhere becomes an extreme one."""
    size = rng.choice((1, 2, 4, 8))
    at = rng.randrange(max(1, len(content) - size))
    at -= at % size if rng.random() < 0.7 else 0
    value = rng.choice(EXTREMES) % (1 << 8 * size)
    return content[:at] + value.to_bytes(size, "little") + content[at + size:]


def append(rng, content):
    return content + rng.choice((b"x", b"\0" * 64, b"\xff" * 7, content, bytes(rng.randrange(256) for _ in range(100))))


def prepend(rng, content):
    return rng.choice((b"x", b"\0", b"\xef\xbb\xbf", b"\n", b"\x89PNG\r\n\x1a\n")) + content


def span(rng, content):
    first = rng.randrange(len(content))
    return first, min(len(content), first + rng.choice((1, 2, 4, 16, 64, 1000)))


def drop(rng, content):
    first, last = span(rng, content)
    return content[:first] + content[last:]


def double(rng, content):
    first, last = span(rng, content)
    return content[:last] + content[first:last] * rng.choice((1, 1, 3, 50)) + content[last:]


def zero(rng, content):
    first, last = span(rng, content)
    return content[:first] + b"\0" * (last - first) + content[last:]


def move(rng, content):
    first, last = span(rng, content)
    rest = content[:first] + content[last:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + content[first:last] + rest[at:]


BYTES = (cut, cut, flip, set_bytes, set_number, set_number, append, prepend, drop, double, zero, move)


def on_text(change):
    """A change of a list of strings as one of bytes."""

    def changed(rng, content, split):
        parts = split(content.decode(errors="surrogateescape")) or ["x"]
        return "".join(change(rng, parts)).encode(errors="surrogateescape")

    return changed


def solid(parts):
    return [i for i, part in enumerate(parts) if part.strip()] or [0]


def drop_part(rng, parts):
    at = rng.choice(solid(parts))
    return parts[:at] + parts[at + 1:]


def double_part(rng, parts):
    at = rng.choice(solid(parts))
    return parts[: at + 1] + [parts[at]] * rng.choice((1, 1, 2, 200)) + parts[at + 1:]


def swap_parts(rng, parts):
    parts = list(parts)
    a, b = rng.choice(solid(parts)), rng.choice(solid(parts))
    parts[a], parts[b] = parts[b], parts[a]
    return parts


def replace_part(rng, parts):
    parts = list(parts)
    parts[rng.choice(solid(parts))] = parts[rng.choice(solid(parts))]
    return parts


def corrupt_part(rng, parts):
    parts = list(parts)
    parts[rng.choice(solid(parts))] = rng.choice(JUNK)
    return parts


def corrupt_number(rng, parts):
    numbers = [i for i, part in enumerate(parts) if NUMBER.fullmatch(part)]
    if not numbers:
        return corrupt_part(rng, parts)
    parts = list(parts)
    parts[rng.choice(numbers)] = rng.choice(NUMBERS)
    return parts


def tokens(text):
    return TOKEN.findall(text)


def lines(text):
    return text.splitlines(keepends=True)


PARTS = (drop_part, double_part, swap_parts, replace_part)
TEXT = [*((on_text(change), tokens) for change in (*PARTS, corrupt_part, corrupt_number, corrupt_number)),
        *((on_text(change), lines) for change in PARTS)]


def corrupt_bytes(rng, content):
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(BYTES)(rng, content or b"x")
    return content


def corrupt_text(rng, content):
    if rng.random() < 0.2:
        return corrupt_bytes(rng, content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change, split = rng.choice(TEXT)
        content = change(rng, content, split)
    return content


def fields(message):
    """(message, field) of each field that is set, at any depth."""
    found = []
    for field, value in message.ListFields():
        found.append((message, field))
        if field.message_type:
            for each in value if field.is_repeated else [value]:
                found += fields(each)
    return found


def corrupt_value(rng, field, value):
    if field.enum_type:
        return rng.choice([each.number for each in field.enum_type.values])
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64, field.CPPTYPE_UINT64):
        most = 31 if field.cpp_type == field.CPPTYPE_INT32 else 63
        least = 0 if field.cpp_type == field.CPPTYPE_UINT64 else -(1 << most)
        return min(max(rng.choice((*EXTREMES, value + 1, value - 1, *range(20))), least), (1 << most) - 1)
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice((0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e-45, 3e38))
    if field.type == field.TYPE_BYTES:
        return corrupt_bytes(rng, value)
    return rng.choice((*filter(str.isprintable, JUNK), value + "x", value[:-1], "\n", "\x1b[31m", "n" * 100000))


def corrupt_message(rng, message):
    """Changes, drops, doubles or swaps fields of a protobuf message, in place."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        choices = fields(message)
        if not choices:
            return
        at, field = rng.choice(choices)
        value = getattr(at, field.name)
        change = rng.random()
        if field.is_repeated:
            items = list(value)
            if change < 0.3:
                del items[rng.randrange(len(items))]
            elif change < 0.5:
                items.append(rng.choice(items))
            elif change < 0.6:
                items = items[::-1]
            elif change < 0.7:
                items = []
            elif not field.message_type:
                index = rng.randrange(len(items))
                items[index] = corrupt_value(rng, field, items[index])
            copies = [type(item).FromString(item.SerializeToString()) for item in items] if field.message_type else items
            at.ClearField(field.name)
            getattr(at, field.name).extend(copies)
        elif field.message_type or change < 0.3:
            at.ClearField(field.name)
        else:
            setattr(at, field.name, corrupt_value(rng, field, value))
