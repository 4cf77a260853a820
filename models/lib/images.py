"""Pictures with the statistics of natural ones, from a seed: dead leaves (Lee, Mumford, Huang, Occlusion Models for Natural
Images, 2001). Discs and boxes whose sizes follow a power law cover each other; each is shaded. Integers only: the same bytes anywhere."""

import numpy

LEAVES = 1500


def dead_leaves(rng, size):
    """[size, size, 3], pixels 0 to 255. Pictures differ in palette, contrast and fineness."""
    palette, contrast = rng.integers(64, 192, 3), rng.integers(64, 128)
    smallest = rng.integers(8, 33)
    picture = numpy.zeros((size, size, 3), numpy.int64) + palette
    for _ in range(LEAVES):
        # Radii of density r^-3, up to half the picture: the square of size/r is uniform.
        radius = int(size / numpy.sqrt(rng.integers(4, (2 * smallest)**2)))
        row, column = rng.integers(0, size, 2)
        color = palette + rng.integers(-contrast, contrast + 1, 3)
        slope, box = rng.integers(-64, 65, 2), rng.integers(2)
        rows = slice(max(row - radius, 0), row + radius + 1)
        columns = slice(max(column - radius, 0), column + radius + 1)
        region = picture[rows, columns]
        down = numpy.arange(rows.start, rows.start + region.shape[0])[:, None] - row
        right = numpy.arange(columns.start, columns.start + region.shape[1]) - column
        shaded = color + ((down * slope[0] + right * slope[1]) // max(2 * radius, 1))[..., None]
        region[...] = numpy.where((box | (down**2 + right**2 <= radius**2))[..., None], shaded, region)
    return numpy.clip(picture + rng.integers(-3, 4, picture.shape), 0, 255)


def images(seed, count, size):
    """[count, size, size, 3], multiples of 1/64 from -2 to 2."""
    rng = numpy.random.default_rng((seed, size))
    return numpy.stack([dead_leaves(rng, size) for _ in range(count)]) / 64.0 - 2.0
