"""Make a campaign of calls: `python -m tests.fuzz --seed 7 --calls 3000`; one alone by `--only`."""

import argparse
import os
import secrets
import sys
import time
from collections import Counter

from .workers import outcomes

# How often it is said how far a campaign is.
_TOLD = 1000


def campaign(seed: int, numbers: range) -> int:
    """Make the calls, print what is wrong, and count it."""
    print(f"fuzz: calls {numbers.start:,} to {numbers.stop - 1:,} of seed {seed}", flush=True)
    kinds: Counter[str] = Counter()
    slowest: list[tuple[float, int, str]] = []
    n_wrong, start = 0, time.monotonic()
    for number, outcome, reason in outcomes(seed, numbers):
        kinds[reason.partition("\n")[0] or outcome.kind] += 1
        wrong = reason or outcome.wrong
        if kinds.total() % _TOLD == 0:
            print(f"fuzz: {kinds.total():,} calls so far, {n_wrong:,} wrong", flush=True)
        if outcome is not None:
            slowest = sorted([*slowest, (outcome.seconds, number, outcome.words)], reverse=True)[:5]
        if wrong:
            n_wrong += 1
            words = outcome.words if outcome is not None else "?"
            print(
                f"\n--- python -m tests.fuzz --seed {seed} --only {number}\n{words[:1000]!r}\n{wrong[-3000:]}",
                flush=True,
            )
    told = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
    print(f"fuzz: {len(numbers):,} calls, {n_wrong:,} wrong, in {time.monotonic() - start:.0f} s: {told}")
    for seconds, number, words in slowest:
        print(f"fuzz: {seconds:.2f} s of the processor for call {number}: {words[:150]!r}")
    return n_wrong


def _alone(seed: int, number: int) -> int:
    """One call in this process, with its arguments."""
    import tempfile
    from pathlib import Path

    import matplotlib

    matplotlib.use("agg")
    from .judging import judged, made

    with tempfile.TemporaryDirectory() as folder:
        name, call, _ = made(seed, number, Path(folder))
    print(f"call {number} of seed {seed}, about {name}: {call.words}")
    for k, data in enumerate(call.inputs):
        print(f"argument {k}, a {type(data).__name__}:\n{data!r:.3000}")
    outcome = judged(seed, number)
    print(f"{outcome.kind} in {outcome.seconds:.2f} s of the processor\n{outcome.wrong or 'as it should be'}")
    return int(bool(outcome.wrong))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, help="by default a fresh one, which is printed")
    parser.add_argument("--calls", type=int, default=3000, help="how many")
    parser.add_argument("--start", type=int, default=0, help="the first")
    parser.add_argument("--only", type=int, help="this call alone, with its arguments")
    asked = parser.parse_args()
    seed = secrets.randbelow(2**31) if asked.seed is None else asked.seed
    if asked.only is not None:
        return _alone(seed, asked.only)
    return int(bool(campaign(seed, range(asked.start, asked.start + asked.calls))))


if __name__ == "__main__":
    # Tests of threads have tests of their own; here calls are small.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    sys.exit(main())
