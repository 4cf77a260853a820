"""One conformance test: what goes in, what must come out."""

import dataclasses
import json
import pathlib


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A named tensor and the .npy file that holds it, relative to the test's directory."""

    name: str
    file: str


@dataclasses.dataclass(frozen=True)
class Case:
    """A test the generator made. `model` is None where the fault exists only in the flatbuffer it was made as."""

    operator: str
    name: str
    directory: pathlib.Path
    error: str | None  # the ERROR_IF that a negative test violates
    types: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    model: str | None = None

    @property
    def negative(self):
        return self.error is not None

    @property
    def model_path(self):
        return self.directory / self.model

    @property
    def input_paths(self):
        return [self.directory / tensor.file for tensor in self.inputs]


def read_description(operator, directory):
    """The case that the generator's desc.json describes, not yet converted to MLIR."""
    description = json.loads((directory / "desc.json").read_text())
    details = description["test_details"]
    generated = description.get("meta", {}).get("data_gen", {}).get("tensors", {})
    types = {tensor["data_type"] for tensor in generated.values()} | set(details["output_types"])
    return Case(
        operator=operator,
        name=directory.name,
        directory=directory,
        error=details["ERRORIF"] if description["expected_failure"] else None,
        types=tuple(sorted(types - {"SHAPE"})),
        inputs=tuple(map(Tensor, description["ifm_name"], description["ifm_file"])),
        outputs=tuple(map(Tensor, description["ofm_name"], description["ofm_file"])),
    )
