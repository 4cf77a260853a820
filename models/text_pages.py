"""Renders pages of text lines, as inputs of the PP-OCR detector: lines of any font and size, a little turned, some upside down.

The same seed gives the same pages, byte for byte, on machines with the same fonts and libraries.
"""

import dataclasses
import math
import random

import text_lines

SIDE = 640
MARGIN = 12
TURN = 3.0  # degrees, at most, to either side
UPSIDE_DOWN = 0.3  # of the lines
SPARSE = 0.2  # of the lines that would fit, left out


@dataclasses.dataclass(frozen=True)
class PageLine:
    """What stands there, and the corners of the piece of paper around it."""

    text: str
    upside_down: bool
    corners: list


@dataclasses.dataclass(frozen=True)
class Page:
    image: "PIL.Image.Image"
    lines: list


def turned(image, angle):
    """The picture turned about its middle, a mask of where it is, and its corners in the new picture."""
    from PIL import Image

    mask = Image.new("L", image.size, 255)
    found = [each.rotate(angle, Image.Resampling.BICUBIC, expand=True) for each in (image, mask)]
    middle, new_middle = ([size / 2 for size in each.size] for each in (image, found[0]))
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    corners = []
    for x, y in ((0, 0), (image.width, 0), (image.width, image.height), (0, image.height)):
        right, down = x - middle[0], y - middle[1]
        corners.append((new_middle[0] + cosine * right + sine * down, new_middle[1] - sine * right + cosine * down))
    return *found, corners


def render_page(rng):
    """Rows of one or two lines from the top to the bottom."""
    from PIL import Image

    page = Image.new("RGB", (SIDE, SIDE), tuple(rng.randrange(215, 256) for _ in range(3)))
    lines, top = [], MARGIN
    while True:
        left, below = MARGIN + rng.randrange(0, 60), top
        while True:
            upside_down = rng.random() < UPSIDE_DOWN
            line = text_lines.render(rng, upside_down)
            scale = rng.uniform(0.55, 1.0)
            size = [max(1, round(scale * each)) for each in line.image.size]
            piece, mask, corners = turned(line.image.resize(size, Image.Resampling.LANCZOS), rng.uniform(-TURN, TURN))
            if left + piece.width > SIDE - MARGIN or top + piece.height > SIDE - MARGIN:
                break
            if rng.random() >= SPARSE:
                page.paste(piece, (left, top), mask)
                lines.append(PageLine(line.text, upside_down, [(left + x, top + y) for x, y in corners]))
            left, below = left + piece.width + rng.randrange(30, 90), max(below, top + piece.height)
        if below == top:
            return Page(page, lines)
        top = below + rng.randrange(8, 28)


def pages(count, seed):
    rng = random.Random(seed)
    return [render_page(rng) for _ in range(count)]
