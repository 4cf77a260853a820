"""What a run's report says of estimates: which layers count, and whether they were foreseen."""

import dataclasses

SHARE, ERROR = 0.02, 0.05  # layers above this share of the time are to be estimated within this error


@dataclasses.dataclass(frozen=True)
class Estimated:
    name: str
    cycles: int
    estimate: int
    share: float  # of the run's time

    @property
    def counts(self):
        return self.share > SHARE

    @property
    def error(self):
        return self.estimate / self.cycles - 1 if self.cycles else 0.0

    def holds(self, error=ERROR):
        return not self.counts or abs(self.error) <= error


def estimated(run):
    """The layers of a report (`run --json`)."""
    return [Estimated(layer["name"], layer["cycles"], layer["estimate_cycles"], layer["cycles"] / run["cycles"]) for layer in run["layers"]]
