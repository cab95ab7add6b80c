"""Whether the suite would notice: deliberate mistakes, one at a time, in a copy of the package.

    python tests/contracts/mutations.py [word ...]

runs the suite without its slow parts against every mistake whose description has one of the words, by default against
all, and says which tests failed first. Tests that fail without any mistake do not count.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
PACKAGE = Path(find_spec("renyi").origin).parent

# What is wrong, the module, and code at its end that makes it so.
MISTAKES = {
    "the reverse products of strips on a device are left out": (
        "resident",
        """
def _without_reverse(self, other, /, _whole=Resident.products):
    found = _whole(self, other)
    if other is self:
        n_strips = max(1, min(_N_STRIPS, len(self) // _FEWEST_OF_STRIP)) if self.blocks == 1 else 1
        edges = np.linspace(0, len(self), n_strips + 1).round().astype(int).tolist()
        for start, stop in pairwise(edges):
            found[start:stop, :start] = 0
    return found
Resident.products = _without_reverse
""",
    ),
    "batches lose a row where they are cut": (
        "accumulator",
        """
def _pieces(parts, _whole=_pieces):
    for k, piece in enumerate(_whole(parts)):
        yield piece if k == 0 else {name: data[1:] for name, data in piece.items()}
""",
    ),
    "chunks of rows count a row twice": (
        "stacks",
        """
def _chunks(n_rows, _whole=_chunks):
    return (slice(max(rows.start - 1, 0), rows.stop) for rows in _whole(n_rows))
""",
    ),
    "pairs with gaps have a row too few": (
        "pairwise",
        """
def _one_less(self, *given, _whole=_Side.__init__, **named):
    _whole(self, *given, **named)
    self.n = self.n - (self.n < self.group.n_rows)
_Side.__init__ = _one_less
""",
    ),
    "columns in batches have a dimension less": (
        "folded",
        """
def _prepared(counted, settings, column, _whole=_prepared):
    found = _whole(counted, settings, column)
    if counted.cells is None or found.basis.rank < 2:
        return found
    return replace(found, basis=Basis(found.basis.table[:, :-1], None, None, counts=found.basis.counts))
""",
    ),
    "rates of a screening count a test too many": (
        "dependence",
        """
Screening.edge_qvalues = property(lambda self: adjust(np.append(self.edges.pvalues, 1.0), self.correction)[:-1])
""",
    ),
    "products are taken in float32 on few rows": (
        "stacks",
        """
def is_exact(bases, n_rows, /):
    return False
""",
    ),
    "merged accumulators forget how often a value was there": (
        "summaries",
        """
def _forgetful(self, other, /, _whole=Summary.merge):
    other.settle()
    once = np.minimum(other.counts, 1)
    _whole(self, Summary(other.capacity, other.shift, other.parts, once, other.first, other.is_mixed))
Summary.merge = _forgetful
""",
    ),
    "batches permute by other draws": (
        "accumulator",
        """
_SHUFFLES = Shuffles(9999, features.seeds(7, n_draws=1)[0], None, are_many=True)
""",
    ),
    "tensors are read whatever is asked of their types": (
        "table",
        """
def _unasked(self, data, argument, _whole=_OnDevice._read):
    return read_tensors(data, self.place, argument) if has_tensors(data) else _whole(self, data, argument)
_OnDevice._read = _unasked
""",
    ),
}


def failing(sources: Path, *options: str) -> list[str]:
    """Names of the tests that fail with the package from this folder."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=no", "-m", "not slow", "-rfE", *options]
    done = subprocess.run(
        [*command, "tests/contracts"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(sources), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode > 1 and "errors during collection" not in done.stdout:
        raise SystemExit(done.stdout + done.stderr)
    return re.findall(r"^(?:FAILED|ERROR) (.*?\]|\S+)(?: - .*)?$", done.stdout, re.MULTILINE)


def main(words: list[str]) -> int:
    chosen = [said for said in MISTAKES if not words or any(word in said for word in words)]
    with TemporaryDirectory() as folder:
        copy = shutil.copytree(PACKAGE, Path(folder) / "renyi", ignore=shutil.ignore_patterns("__pycache__"))
        known = failing(copy.parent)
        print(f"{len(known)} tests fail without any mistake")
        survived = 0
        for said in chosen:
            module, code = MISTAKES[said]
            file = Path(find_spec(f"renyi.{module}").origin).relative_to(PACKAGE)
            (copy / file).write_text((PACKAGE / file).read_text() + code)
            found = failing(copy.parent, "--maxfail=3", *(f"--deselect={test}" for test in known))
            (copy / file).write_text((PACKAGE / file).read_text())
            survived += not found
            print(f"{'noticed ' if found else 'SURVIVED'}  {said}", *(f"\n          {test}" for test in found))
    return survived


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
