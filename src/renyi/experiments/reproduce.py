"""One way to run, resume, draw and tell each of the paper's experiments."""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from renyi.coefficients.registry import measure, measures
from renyi.compute.threads import available_cores
from renyi.errors import InputError, MissingExtraError, as_path, check_integer, is_integer
from renyi.experiments import gallery, power, selection, times
from renyi.experiments.entries import Coefficient, chosen, names_of
from renyi.experiments.locks import locked
from renyi.experiments.panels import read_panels
from renyi.experiments.patterns import PATTERNS
from renyi.experiments.runs import Record, Run, Say, read_record
from renyi.experiments.summary import Summary
from renyi.report.files import written_whole


@dataclass(frozen=True)
class Request:
    """What the user asked for: what `run_experiment` takes, or to draw and tell only what an earlier run found."""

    experiment: str
    out: Path
    quick: bool = False
    seed: int = 0
    measures: Sequence[str] | None = None
    jobs: int | None = None
    data: Path | None = None
    draw_only: bool = False
    progress: bool = True

    @property
    def stem(self) -> str:
        """Files are called so: a quick run never takes the place of a long one."""
        return f"{self.experiment}-quick" if self.quick else self.experiment

    def path(self, suffix: str, /) -> Path:
        """A file of the results."""
        return self.out / f"{self.stem}{suffix}"

    def run(self, say: Say, /) -> Run:
        """How it is run."""
        return Run(self.path(".json"), self.seed, self.jobs or available_cores(), self.progress, say)


def _run(request: Request, say: Say) -> Record:
    how, quick = request.run(say), request.quick
    match request.experiment:
        case "power":
            patterns = [pattern.name for pattern in PATTERNS] if quick else list(power.ALL_PATTERNS)
            sizes = power.QUICK if quick else power.FULL
            return power.measure_power(how, chosen(request.measures), patterns=patterns, sizes=sizes)
        case "times":
            if request.jobs not in (None, 1):
                raise InputError(
                    f"jobs={request.jobs} would disturb the times, which are taken one by one: leave it out"
                )
            return times.measure_times(how, chosen(request.measures), limits=times.QUICK if quick else times.FULL)
        case "gallery":
            entries = [Coefficient(measure(name)) for name in names_of(request.measures, measures())]
            return gallery.measure_gallery(how, entries, n=gallery.N_ROWS // 2 if quick else gallery.N_ROWS)
        case _:
            by, sizes_of = selection.compared(request.measures), selection.QUICK if quick else selection.FULL
            return selection.measure_selection(how, by, read_panels(request.data), sizes=sizes_of)


# What tells each experiment in tables.
EXPERIMENTS: dict[str, Callable[[Record], list[Summary]]] = {
    "power": power.summarise,
    "times": times.summarise,
    "gallery": gallery.summarise,
    "selection": selection.summarise,
}


@dataclass(frozen=True, eq=False)
class Reproduced:
    """What an experiment has found.

    Attributes
    ----------
    results : list of dict
        A row for every finished task, as in the JSON file, with what it was and what came out.
    settings : dict
        Counts and seed.
    summaries : list of Summary
        Tables for people: `title`, `header`, `rows`, `notes` and `markdown()`.
    paths : list of Path
        The files: JSON, tables in Markdown, figures.
    """

    record: Record
    summaries: list[Summary]
    paths: list[Path]

    @property
    def results(self) -> list[dict[str, Any]]:
        """Rows of the JSON file."""
        return list(self.record.rows.values())

    @property
    def settings(self) -> dict[str, Any]:
        """Counts and seed."""
        return dict(self.record.settings)


def run_experiment(
    experiment: str,
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    seed: int = 0,
    measures: Sequence[str] | None = None,
    jobs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    progress: bool = False,
    say: Say = print,
) -> Reproduced:
    """Run one of the paper's experiments, or what an earlier run has left of it, as `renyi reproduce` does.

    Parameters
    ----------
    experiment : {"power", "times", "gallery", "selection"}
        What to run.
    out : str or path
        Folder of the results, which is made if need be.
    quick : bool, default False
        Small counts, minutes instead of hours, in files of their own.
    seed : int, default 0
        Of the data. Another one starts anew, and what was there is kept beside it.
    measures : sequence of str, optional
        Names of measures, "auto" for the test of independence; by default all that fit.
    jobs : int, optional
        Processes; by default as many as cores. Scripts that take several need the guard
        `if __name__ == "__main__":`.
    data : str or path, optional
        Folder of the data sets, for "selection"; by default they come from OpenML.
    progress : bool, default False
        Whether to show a bar, in a terminal.
    say : callable, default print
        Takes one sentence at a time on what is decided on the way.

    Returns
    -------
    Reproduced
        With `results`, `settings`, `summaries` and `paths`.

    Raises
    ------
    InputError
        For what cannot be met, before any work is done; also where another run writes the same results.

    Examples
    --------
    >>> import tempfile
    >>> from renyi.experiments import run_experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = run_experiment("gallery", folder, quick=True, measures=["pearson"], jobs=1)
    >>> len(found.results)
    14
    """
    folder = None if data is None else as_path(data, "data")
    number = int(seed) if is_integer(seed) else seed  # as JSON has it
    return reproduce(
        Request(experiment, as_path(out, "out"), quick, number, measures, jobs, folder, progress=progress), say=say
    )


def draw_experiment(experiment: str, out: str | os.PathLike[str], *, quick: bool = False) -> Reproduced:
    """Draw and tell what an earlier run has found so far.

    Parameters
    ----------
    experiment, out, quick
        As in `run_experiment`.

    Returns
    -------
    Reproduced
        As from `run_experiment`.
    """
    return reproduce(Request(experiment, as_path(out, "out"), quick, draw_only=True), say=print)


def reproduce(request: Request, /, *, say: Say) -> Reproduced:
    """Run an experiment, or what is left of it, or draw it alone; write its JSON, tables and figures."""
    _check(request)
    if request.draw_only:
        return _told(request, _existing(request), say)
    with locked(request.path(".json")):
        return _told(request, _run(request, say), say)


def _existing(request: Request) -> Record:
    path = request.path(".json")
    if not path.exists():
        raise InputError(f"{path} does not exist, so there is nothing to draw: run the experiment first")
    record = read_record(path, request.experiment)
    if not record.rows:
        raise InputError(f"{path} has no results yet, so there is nothing to draw: run the experiment first")
    return record


def _told(request: Request, record: Record, say: Say) -> Reproduced:
    """Tables and figures of a record."""
    summaries = EXPERIMENTS[request.experiment](record)
    with written_whole(request.path(".md")) as part:
        part.write_text("\n".join(summary.markdown() for summary in summaries), encoding="utf-8")
    figures = _draw(request, record, say)
    return Reproduced(record, summaries, [request.path(".json"), request.path(".md"), *figures])


def _check(request: Request) -> None:
    """Refuse what cannot be met before any work is done."""
    if request.experiment not in EXPERIMENTS:
        raise InputError(f"there is no experiment {request.experiment!r}: choose one of {', '.join(EXPERIMENTS)}")
    if isinstance(request.measures, str):
        raise InputError(f"measures={request.measures!r} is a text: pass a list of names")
    for name, value, least in (("seed", request.seed, 0), ("jobs", request.jobs, 1)):
        if value is not None:
            check_integer(value, name, least)
    ignored = {"--measures": request.measures, "--jobs": request.jobs, "--data": request.data, "--seed": request.seed}
    given = [option for option, value in ignored.items() if value is not None and value != 0]
    if request.draw_only and given:
        raise InputError(f"--draw-only draws what is there, whatever {' and '.join(given)} would be: leave it out")
    if request.data is not None and request.experiment != "selection":
        raise InputError(
            f"data={request.data} is for the experiment 'selection', and {request.experiment!r} makes its own data"
        )
    if request.data is not None and not request.data.is_dir():
        raise InputError(f"data={request.data} is not a folder: name the one that holds the data sets")
    try:
        request.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=request.out).close()
    except OSError as error:
        raise InputError(f"out={request.out} cannot be written to ({error.strerror}): name another folder") from error


def _figures(record: Record) -> dict[str, Any]:
    """The figures of an experiment, by the endings of their files."""
    from renyi.experiments import curves, figures

    match record.experiment:
        case "power":
            return {"": curves.plot_power(record), "-extra": curves.plot_power(record, extra=True)}
        case "times":
            return {"": curves.plot_times(record)}
        case "gallery":
            return {"": figures.plot_all_measures(record)}
        case _:
            return {"": curves.plot_selection(record)}


def _draw(request: Request, record: Record, say: Say) -> list[Path]:
    """Figures, or a word on why there are none."""
    try:
        figures = _figures(record)
    except MissingExtraError as error:
        if request.draw_only:
            raise
        say(f"no figure: {error}")
        return []
    from renyi.report.figures.style import save

    paths = []
    for ending, figure in figures.items():
        if figure is not None:
            save(figure, request.path(f"{ending}.png"))
            paths.append(request.path(f"{ending}.png"))
    return paths
