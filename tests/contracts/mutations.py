"""Whether the suite would notice: deliberate mistakes, one at a time, in a copy of the package.

    python tests/contracts/mutations.py [word ...]

runs the suite against every mistake whose description has one of the words, by default against all, and says which
tests failed first. Tests that fail without any mistake do not count. PYTEST_ADDOPTS="-n 8" shares the work.
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
        "allpairs.device.stack",
        """
def _without_reverse(self, other, /, _whole=DeviceFunctions.products):
    found = _whole(self, other)
    if other is self:
        for strip in self._strips():
            found[strip, :strip.start] = 0
    return found
DeviceFunctions.products = _without_reverse
""",
    ),
    "batches lose a row where they are cut": (
        "tables.rows",
        """
def _fewer(self, _whole=Rows.pieces):
    for k, piece in enumerate(_whole(self)):
        yield piece if k == 0 else piece.part(1, len(piece))
Rows.pieces = _fewer
""",
    ),
    "factors of vectors forget a part of the rows": (
        "allpairs.streaming.vectors",
        """
def merged_factor(*factors):
    return factors[0]
""",
    ),
    "the second table is a row late": (
        "tables.rows",
        """
def _late(self, other, /, _whole=Rows.beside):
    return _whole(self, replace(other, parts={name: np.roll(data, 1) for name, data in other.parts.items()}))
Rows.beside = _late
""",
    ),
    "chunks of rows count a row twice": (
        "allpairs.stack",
        """
def _chunks(n_rows, _whole=_chunks):
    return (slice(max(rows.start - 1, 0), rows.stop) for rows in _whole(n_rows))
""",
    ),
    "pairs with gaps have a row too few": (
        "allpairs.common_rows",
        """
def _one_less(self, *given, _whole=Side.__init__, **named):
    _whole(self, *given, **named)
    self.n = self.n - (self.n < self.group.n_rows)
Side.__init__ = _one_less
""",
    ),
    "columns in batches have a dimension less": (
        "allpairs.streaming.variables",
        """
from dataclasses import replace
from renyi.basis.basis import Basis
def _prepared(counted, settings, column, _whole=_prepared):
    found = _whole(counted, settings, column)
    if counted.cells is None or found.basis.dimension < 2:
        return found
    return replace(found, basis=Basis(found.basis.table[:, :-1], None, None, counts=found.basis.counts))
""",
    ),
    "rates of a screening count a test too many": (
        "tables.screening",
        """
from renyi.inference.false_discovery import adjust
Screening.edge_qvalues = property(lambda self: adjust(np.append(self.edges.pvalues, 1.0), self.correction)[:-1])
""",
    ),
    "products are taken in float32 on few rows": (
        "allpairs.stack",
        """
def is_exact(bases, n_rows, /, **_):
    return False
""",
    ),
    "merged accumulators forget how often a value was there": (
        "allpairs.streaming.rank_sketch",
        """
def _forgetful(self, other, /, _whole=RankSketch.merge):
    other.settle()
    once = np.minimum(other.counts, 1)
    _whole(self, RankSketch(other.capacity, other.shift, other.parts, once, other.first, other.is_mixed))
RankSketch.merge = _forgetful
""",
    ),
    "batches permute by other draws": (
        "tables.accumulator",
        """
_PERMUTATIONS = Permutations(9999, random_features.seeds(7, n_draws=1)[0], None, are_many=True)
""",
    ),
    "tensors are read whatever is asked of their types": (
        "tables.on_device",
        """
def _unasked(self, data, argument, _whole=TableOnDevice._read):
    return read_tensors(data, self.place, argument) if has_tensors(data) else _whole(self, data, argument)
TableOnDevice._read = _unasked
""",
    ),
}


def failing(sources: Path, *options: str) -> list[str]:
    """Names of the tests that fail with the package from this folder."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=no", "-rfE", *options]
    done = subprocess.run(
        [*command, "tests/contracts"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(sources), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^(?:FAILED|ERROR) (.*?\]|\S+)(?: - .*)?$", done.stdout, re.MULTILINE)
    # Tests that could not be collected say nothing of a mistake.
    if done.returncode > 1:
        raise SystemExit(done.stdout + done.stderr)
    return found


def main(words: list[str]) -> int:
    chosen = [said for said in MISTAKES if not words or any(word in said for word in words)]
    with TemporaryDirectory() as folder:
        copy = shutil.copytree(PACKAGE, Path(folder) / "renyi", ignore=shutil.ignore_patterns("__pycache__"))
        known = failing(copy.parent)
        print(f"{len(known)} tests fail without any mistake", *(f"\n          {test}" for test in known))
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
