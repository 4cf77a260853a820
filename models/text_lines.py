#!/usr/bin/env python3
"""Renders text lines, upright and upside down, as inputs of the PP-OCR text-direction classifier.

    models/text_lines.py --count 64 --seed 1 --calibration lines.npz
    models/text_lines.py --count 2 --seed 7 --directory lines      # line-0.npy, line-0.png, ...

The same seed gives the same lines, byte for byte, on machines with the same fonts and libraries. Even lines are upright
(class 0), odd ones are upside down (class 1). Fonts are those of scripts/packages.txt.
"""

import argparse
import dataclasses
import math
import pathlib
import random
import sys

HEIGHT, WIDTH = 48, 192

FONTS = [
    f"/usr/share/fonts/truetype/{name}.ttf"
    for name in (
        "dejavu/DejaVuSans", "dejavu/DejaVuSans-Bold", "dejavu/DejaVuSansMono", "dejavu/DejaVuSerif",
        "liberation/LiberationSans-Regular", "liberation/LiberationSans-Bold", "liberation/LiberationSerif-Regular",
        "liberation/LiberationSerif-Italic", "liberation/LiberationMono-Regular",
        "freefont/FreeSans", "freefont/FreeSerif", "freefont/FreeSerifBold", "freefont/FreeMonoBold",
    )
]

WORDS = """account address amount apply arrival balance bridge budget capital center change chapter circuit city
client coffee company compile corner country credit customer daily delivery design detail doctor document edition
engine entrance family figure final first flight floor forward garden general government hardware history hospital
hotel index industry information invoice island item journal kitchen language large library light limited machine
market matrix memory method minute model monday morning mountain museum music national network notice number office
open orange order package paper parking passenger payment phone picture planet platform please price private product
program public quality quantity question railway reason receipt record report request restaurant result river road
room sale school science second section service signal simple smart software south special square standard station
stock street student summer supply surface system table taxi technical theater ticket total tower traffic train
travel university upper value vector version village vision water weather weekend welcome west window winter world
yellow young zone""".split()


@dataclasses.dataclass(frozen=True)
class Line:
    """A rendered line: what stands there, how it was set, the picture, and the class a reader would give it."""

    text: str
    font: str
    size: int
    upside_down: bool
    image: "PIL.Image.Image"


def text_of(rng):
    """One or two words, or a word and a number, as signs, receipts and headings have them."""
    words = [rng.choice(WORDS) for _ in range(rng.choice((1, 2, 2)))]
    if rng.random() < 0.25:
        words[-1] = str(rng.randrange(100, 100000))
        words.insert(0, rng.choice(WORDS))
    style = rng.choice((str.lower, str.title, str.title, str.upper))
    return style(" ".join(words[:2]))


def render(rng, upside_down):
    """Draws one line of dark ink on light paper (one time in five the other way round) and turns it if asked to."""
    from PIL import Image, ImageDraw, ImageFont

    path, size, text = rng.choice(FONTS), rng.randrange(22, 49), text_of(rng)
    # The other engine depends on libraries that a machine may lack.
    font = ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
    left, top, right, bottom = font.getbbox(text)
    margin = [rng.randrange(2, 7) for _ in range(4)]
    paper = [rng.randrange(200, 256) for _ in range(3)]
    ink = [rng.randrange(0, 80) for _ in range(3)]
    if rng.random() < 0.2:
        paper, ink = ink, paper
    image = Image.new("RGB", (right - left + margin[0] + margin[2], bottom - top + margin[1] + margin[3]), tuple(paper))
    ImageDraw.Draw(image).text((margin[0] - left, margin[1] - top), text, font=font, fill=tuple(ink))
    if upside_down:
        image = image.transpose(Image.Transpose.ROTATE_180)
    return Line(text, pathlib.Path(path).stem, size, upside_down, image)


def resized(image, most):
    """uint8 [48, at most `most`, 3]: height 48 with the ratio kept, BGR."""
    import numpy
    from PIL import Image

    width = min(most, math.ceil(HEIGHT * image.width / image.height))
    return numpy.asarray(image.resize((width, HEIGHT), Image.Resampling.BILINEAR))[:, :, ::-1]


def preprocess(image, most=WIDTH):
    """float32 [3, 48, most]: padded on the right, values (v / 255 - 0.5) / 0.5."""
    import numpy

    pixels = resized(image, most).astype(numpy.float32)
    tensor = numpy.zeros((3, HEIGHT, most), dtype=numpy.float32)
    tensor[:, :, :pixels.shape[1]] = (pixels.transpose(2, 0, 1) / 255 - 0.5) / 0.5
    return tensor


def picture(image, most=WIDTH):
    """uint8 [48, most, 3], BGR: padded on the right with gray, which is next to 0 when it is normalized."""
    import numpy

    pixels = resized(image, most)
    return numpy.pad(pixels, ((0, 0), (0, most - pixels.shape[1]), (0, 0)), constant_values=128)


def lines(count, seed):
    """`count` lines; even ones upright, odd ones upside down."""
    rng = random.Random(seed)
    return [render(rng, upside_down=index % 2 == 1) for index in range(count)]


def upright_lines(count, seed):
    """As those that are turned upright come to the recognizer."""
    rng = random.Random(seed)
    return [render(rng, upside_down=False) for _ in range(count)]


def tensors(rendered, width=WIDTH):
    """float32 [count, 3, 48, width]."""
    import numpy

    return numpy.stack([preprocess(line.image, width) for line in rendered])


def write_calibration(path, rendered, width=WIDTH):
    """An .npz with one array, `x`, a sample a row. Zip dates are fixed, so that the same lines give the same bytes."""
    import io
    import zipfile

    import numpy

    buffer = io.BytesIO()
    numpy.save(buffer, tensors(rendered, width))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("x.npy", date_time=(1980, 1, 1, 0, 0, 0)), buffer.getvalue())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=64, help="how many lines (default: 64)")
    parser.add_argument("--seed", type=int, default=1, help="which lines (default: 1)")
    parser.add_argument("--calibration", type=pathlib.Path, metavar="F.npz", help="write all lines into one .npz")
    parser.add_argument("--batch", type=pathlib.Path, metavar="F.npy", help="write all lines into one [count, 3, 48, 192] .npy")
    parser.add_argument("--directory", type=pathlib.Path, metavar="DIR",
                        help="write line-N.npy ([1, 3, 48, 192]) and line-N.png for each line")
    arguments = parser.parse_args()
    if arguments.count < 1:
        parser.error("--count must be at least 1")
    absent = [path for path in FONTS if not pathlib.Path(path).exists()]
    if absent:
        sys.exit(f"text_lines: error: no font {absent[0]}; run scripts/setup")

    import numpy

    rendered = lines(arguments.count, arguments.seed)
    if arguments.calibration:
        write_calibration(arguments.calibration, rendered)
    if arguments.batch:
        numpy.save(arguments.batch, tensors(rendered))
    if arguments.directory:
        arguments.directory.mkdir(parents=True, exist_ok=True)
        for index, line in enumerate(rendered):
            numpy.save(arguments.directory / f"line-{index}.npy", preprocess(line.image)[None])
            line.image.save(arguments.directory / f"line-{index}.png")


if __name__ == "__main__":
    main()
