"""What PP-OCR does on the host: boxes out of a map of text, crops out of a page, text out of the recognizer's classes.

Thresholds and steps are those of PaddleOCR's DBPostProcess and CTCLabelDecode. A component of the map is a line, and its box the
rectangle of least area around it, which grows as far as the shrinking of the detector's training asks for.
"""

import numpy
from PIL import Image, ImageDraw

TEXT, BOX, UNCLIP, SHORTEST = 0.3, 0.5, 1.6, 3
TALL = 1.5  # height over width from which a crop is turned


def rows_of(mask):
    """(row, start, end) of each stretch of ones."""
    steps = numpy.diff(numpy.pad(mask.astype(numpy.int8), ((0, 0), (1, 1))), axis=1)
    rows, starts = numpy.nonzero(steps == 1)
    return numpy.stack([rows, starts, numpy.nonzero(steps == -1)[1]], 1)


def components(mask):
    """The stretches of each component; what touches by a corner is one."""
    stretches = rows_of(mask)
    parent = list(range(len(stretches)))

    def root(at):
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    first = numpy.searchsorted(stretches[:, 0], numpy.arange(len(mask) + 1))
    for row in range(1, len(mask)):
        for at in range(first[row], first[row + 1]):
            for above in range(first[row - 1], first[row]):
                if stretches[above, 1] <= stretches[at, 2] and stretches[at, 1] <= stretches[above, 2]:
                    parent[root(at)] = root(above)
    groups = {}
    for at in range(len(stretches)):
        groups.setdefault(root(at), []).append(at)
    return [stretches[members] for members in groups.values()]


def hull(points):
    """The convex hull of points: the lower half from left to right, then the upper one back."""
    points = sorted(set(map(tuple, points.tolist())))

    def half(points):
        kept = []
        for point in points:
            while len(kept) > 1 and ((kept[-1][0] - kept[-2][0]) * (point[1] - kept[-2][1]) -
                                     (kept[-1][1] - kept[-2][1]) * (point[0] - kept[-2][0])) <= 0:
                kept.pop()
            kept.append(point)
        return kept

    lower, upper = half(points), half(points[::-1])
    return numpy.array(lower[:-1] + upper[:-1] or points, float)


def least_rectangle(points):
    """(middle, unit vector of one side, half of that side, half of the other) of the rectangle of least area: a side of it lies on the hull."""
    corners = hull(points)
    best = None
    for edge in numpy.roll(corners, -1, 0) - corners:
        length = numpy.hypot(*edge)
        along = edge / length if length else numpy.array([1.0, 0.0])
        across = numpy.array([-along[1], along[0]])
        spans = [(corners @ axis).min() for axis in (along, across)], [(corners @ axis).max() for axis in (along, across)]
        low, high = numpy.array(spans[0]), numpy.array(spans[1])
        area = numpy.prod(high - low)
        if best is None or area < best[0] - 1e-9:
            middle = (low + high) / 2
            best = area, middle[0] * along + middle[1] * across, along, (high - low)[0] / 2, (high - low)[1] / 2
    return best[1:]


def corners_of(middle, along, half, other):
    """Clockwise from the upper left one."""
    across = numpy.array([-along[1], along[0]])
    points = numpy.array([middle + x * half * along + y * other * across for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    order = numpy.argsort(points[:, 0], kind="stable")
    left, right = points[order[:2]], points[order[2:]]
    left, right = left[numpy.argsort(left[:, 1], kind="stable")], right[numpy.argsort(right[:, 1], kind="stable")]
    return numpy.array([left[0], right[0], right[1], left[1]])


def filled(corners, side):
    """The pixels of a polygon."""
    image = Image.new("1", (side, side))
    ImageDraw.Draw(image).polygon([tuple(point) for point in corners], fill=1)
    return numpy.asarray(image)


def boxes(likelihood):
    """Corners of each line's box, from the top to the bottom."""
    mask = likelihood > TEXT
    mask[1:] |= mask[:-1].copy()
    mask[:, 1:] |= mask[:, :-1].copy()
    found = []
    for stretches in components(mask):
        points = numpy.concatenate([stretches[:, [1, 0]], stretches[:, [2, 0]] - [1, 0]])
        middle, along, half, other = least_rectangle(points)
        if 2 * min(half, other) < SHORTEST:
            continue
        inside = filled(corners_of(middle, along, half, other), len(mask))
        if not inside.any() or likelihood[inside].mean() < BOX:
            continue
        more = UNCLIP * half * other / (half + other)  # area times the ratio over the length around
        if 2 * min(half + more, other + more) >= SHORTEST + 2:
            found.append(corners_of(middle, along, half + more, other + more).round().clip(0, len(mask) - 1))
    return sorted(found, key=lambda corners: (corners[0][1], corners[0][0]))


def overlap(one, other):
    """Intersection over union of two masks."""
    return (one & other).sum() / max((one | other).sum(), 1)


def pairs(ones, others, side, least=0.5):
    """{index in `ones`: index in `others`} of boxes that overlap by `least`, those that overlap most first."""
    masks = [[filled(corners, side) for corners in each] for each in (ones, others)]
    found = sorted(((overlap(one, other), i, j) for i, one in enumerate(masks[0]) for j, other in enumerate(masks[1])), reverse=True)
    taken = {}
    for share, i, j in found:
        if share >= least and i not in taken and j not in taken.values():
            taken[i] = j
    return taken


def crop(page, corners):
    """The box, turned level; a tall one on its side."""
    upper_left, upper_right, lower_right, lower_left = corners
    width = max(1, int(max(numpy.hypot(*(upper_right - upper_left)), numpy.hypot(*(lower_right - lower_left)))))
    height = max(1, int(max(numpy.hypot(*(lower_left - upper_left)), numpy.hypot(*(lower_right - upper_right)))))
    source = [*upper_left, *lower_left, *lower_right, *upper_right]
    image = page.transform((width, height), Image.Transform.QUAD, source, Image.Resampling.BICUBIC)
    return image.transpose(Image.Transpose.ROTATE_90) if height / width >= TALL else image


def text_of(classes, characters):
    """The characters of the likeliest classes: neither blanks nor repetitions."""
    best = classes.argmax(-1)
    kept = best[numpy.concatenate([[True], best[1:] != best[:-1]]) & (best != 0)]
    return "".join(characters[each] for each in kept)


def distance(one, other):
    """Insertions, deletions and replacements that make one text of the other."""
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        above, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (left != right))
    return row[-1]
