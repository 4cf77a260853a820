"""A line of the comparison. A figure without its conditions means nothing: each field is printed."""

import dataclasses

import document


@dataclasses.dataclass(frozen=True)
class Row:
    who: str
    kind: str  # estimate, simulation, ...: where the cycles come from
    array: str  # multiply-accumulates a cycle
    memory: str
    dram: str
    macs: float  # that it counts; None: it does not
    cycles: float  # None: it has none
    seconds: float  # on this machine, median; None: not measured
    mebibytes: float
    source: str
    decibels: float = None  # output against float; None: no values

    def cells(self):
        def number(value, form):
            return "–" if value is None else format(value, form)

        return [self.who, self.kind, self.array, self.memory, self.dram, number(self.macs and self.macs / 1e6, ",.1f"),
                number(self.cycles, ",.0f"), number(self.decibels, ".1f"), number(self.seconds, ".2f"), number(self.mebibytes, ".0f"),
                self.source]


HEADINGS = ("who:", "cycles are:", "MACs a cycle:", "on chip:", "DRAM:", "M MACs counted", "cycles", "dB to float", "host s", "host MiB", "source:")


def table(rows):
    """Markdown."""
    return document.table(HEADINGS, [row.cells() for row in rows])
