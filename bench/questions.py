"""The shipped overlays that ask a question of the machine, and the networks on which it is asked. bench/what-if answers them."""

import dataclasses
import pathlib

import fewer_bits
from prepared import prepare
from softmaxes import SIZES, softmax

ROOT = pathlib.Path(__file__).resolve().parents[1]
OVERLAYS = ROOT / "isa" / "what-if"
PAGES = ROOT / "docs" / "what-if"

# Overlays that the guide (docs/what-if.md) begins with: examples of how one is written.
PATTERNS = {"absolute-difference", "minimum-reduction", "multiply-add", "slow-rescale", "subtraction", "sum-of-absolute-differences",
            "wide-array"}


@dataclasses.dataclass(frozen=True)
class Question:
    networks: tuple = ("mobilenet_v2", "resnet18", "squeezenet_1_1")
    weights: str = ""  # of bench/fewer_bits.py; "": as they are
    more_weights: tuple = ()  # that are tried as well
    removed: tuple = ()  # instructions without which it is tried as well: nothing but the overlay's does their work then
    rtl_gap: str = ""  # why the rtl engine refuses the overlay; "": it does not

    def model(self, network, weights):
        """A network as a file, with `weights` of bench/fewer_bits.py."""
        if network in SIZES:
            return softmax(network)
        return fewer_bits.rewritten(network, weights) if weights else prepare(network)[2]

    def models(self, weights):
        return {network: self.model(network, weights) for network in self.networks}


ON_OTHER_NETWORKS = {
    "depthwise": Question(("mobilenet_v1", "mobilenet_v2", "efficientnet_lite0")),
    "fused-rescale": Question(("mobilenet_v2", "mobilenet_v3_large", "resnet18")),
    # The other two have no such function: they show what the instruction costs where it is not used.
    "fused-table": Question(("mobilenet_v3_large", "mobilenet_v2", "resnet18")),
    "int4-weights": Question(weights="int4"),
    "output-stationary": Question(("mobilenet_v3_large", "resnet18", "squeezenet_1_1"), removed=("mload", "mmul"), rtl_gap="the RTL's array keeps weights"),
    "second-load": Question(rtl_gap="the RTL has one unit of each template"),
    "softmax-help": Question(("softmax_64", "softmax_128", "softmax_197")),
    "sparse-weights": Question(weights="sparse"),
    "zero-skipping": Question(weights="block4", more_weights=("block2", "block6", "loose5", "loose25"),
                              rtl_gap="its DMA units move elements of 1, 2 and 4 bytes"),
}


def questions():
    """{overlay's name: Question} of all that are shipped."""
    names = sorted(path.stem for path in OVERLAYS.glob("*.yaml"))
    return {name: ON_OTHER_NETWORKS.get(name, Question()) for name in names if name not in PATTERNS}


def words(name):
    """What the overlay's first lines ask: (question, what follows it)."""
    lines = []
    for line in (OVERLAYS / f"{name}.yaml").read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    question, mark, rest = " ".join(lines).partition("?")
    return question + mark, rest.strip()


def problems():
    """What is wrong with the shipped overlays and their pages, a sentence each."""
    asked, found = questions(), []
    readme = (OVERLAYS / "README.md").read_text()
    for name in sorted(asked):
        question, _ = words(name)
        if not (question.startswith("What if ") and question.endswith("?")):
            found.append(f"isa/what-if/{name}.yaml does not begin with its question")
        page = PAGES / f"{name}.md"
        if not page.exists():
            found.append(f"isa/what-if/{name}.yaml has no page: run bench/what-if {name}")
        elif not page.read_text().startswith(f"# {question}\n"):
            found.append(f"docs/what-if/{name}.md asks another question than its overlay: run bench/what-if {name}")
        if f"(../../docs/what-if/{name}.md)" not in readme:
            found.append(f"isa/what-if/README.md does not link docs/what-if/{name}.md")
    for page in sorted(PAGES.glob("*.md")):
        if page.stem not in asked:
            found.append(f"docs/what-if/{page.name} is of no overlay")
    for name in sorted((set(ON_OTHER_NETWORKS) | PATTERNS) - {path.stem for path in OVERLAYS.glob("*.yaml")}):
        found.append(f"bench/questions.py names the overlay '{name}', which does not exist")
    return found
