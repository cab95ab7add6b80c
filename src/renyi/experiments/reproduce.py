"""One way to run, resume, draw and tell each of the paper's experiments."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from renyi.errors import InputError, MissingExtraError
from renyi.execution.threads import available_cores
from renyi.experiments import gallery, power, selection, times
from renyi.experiments.entries import Coefficient, chosen, names_of
from renyi.experiments.panels import read_panels
from renyi.experiments.patterns import PATTERNS
from renyi.experiments.runs import Record, Say, read_record
from renyi.experiments.summary import Summary
from renyi.peers.registry import measure, measures
from renyi.report.files import written_whole

__all__ = ["EXPERIMENTS", "Request", "reproduce"]


@dataclass(frozen=True)
class Request:
    """What the user asked for.

    Parameters
    ----------
    experiment : str
        One of `EXPERIMENTS`.
    out : Path
        Folder of the results.
    quick : bool
        Small counts, in files of their own.
    seed : int
        Of the data.
    measures : sequence of str, optional
        Names; by default all that fit.
    jobs : int, optional
        Processes; by default as many as cores.
    data : Path, optional
        Folder of the data sets, for "selection".
    draw_only : bool
        Draw and tell what an earlier run found.
    progress : bool
        Whether to show a bar, in a terminal.
    """

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


@dataclass(frozen=True)
class Experiment:
    """How an experiment is run, told and drawn."""

    run: Callable[[Request, Say], Record]
    summarise: Callable[[Record], list[Summary]]
    draw: Callable[[Record], dict[str, Any]]


def _run_power(request: Request, say: Say) -> Record:
    return power.measure_power(
        request.path(".json"),
        chosen(request.measures),
        patterns=[pattern.name for pattern in PATTERNS] if request.quick else list(power.ALL_PATTERNS),
        sizes=power.QUICK if request.quick else power.FULL,
        seed=request.seed,
        jobs=request.jobs or available_cores(),
        progress=request.progress,
        say=say,
    )


def _draw_power(record: Record) -> dict[str, Any]:
    from renyi.experiments.curves import plot_power

    return {"": plot_power(record), "-extra": plot_power(record, extra=True)}


def _run_times(request: Request, say: Say) -> Record:
    if request.jobs not in (None, 1):
        raise InputError(f"--jobs {request.jobs} would disturb the times, which are taken one by one: leave it out")
    return times.measure_times(
        request.path(".json"),
        chosen(request.measures),
        limits=times.QUICK if request.quick else times.FULL,
        seed=request.seed,
        progress=request.progress,
        say=say,
    )


def _draw_times(record: Record) -> dict[str, Any]:
    from renyi.experiments.curves import plot_times

    return {"": plot_times(record)}


def _run_gallery(request: Request, say: Say) -> Record:
    return gallery.measure_gallery(
        request.path(".json"),
        [Coefficient(measure(name)) for name in names_of(request.measures, measures())],
        n=gallery.N_ROWS // 2 if request.quick else gallery.N_ROWS,
        seed=request.seed,
        jobs=request.jobs or available_cores(),
        progress=request.progress,
        say=say,
    )


def _draw_gallery(record: Record) -> dict[str, Any]:
    from renyi.experiments.figures import plot_all_measures

    return {"": plot_all_measures(record)}


def _run_selection(request: Request, say: Say) -> Record:
    by = selection.compared(request.measures)
    return selection.measure_selection(
        request.path(".json"),
        by,
        read_panels(request.data),
        sizes=selection.QUICK if request.quick else selection.FULL,
        seed=request.seed,
        jobs=request.jobs or available_cores(),
        progress=request.progress,
        say=say,
    )


def _draw_selection(record: Record) -> dict[str, Any]:
    from renyi.experiments.curves import plot_selection

    return {"": plot_selection(record)}


EXPERIMENTS = {
    "power": Experiment(_run_power, power.summarise, _draw_power),
    "times": Experiment(_run_times, times.summarise, _draw_times),
    "gallery": Experiment(_run_gallery, gallery.summarise, _draw_gallery),
    "selection": Experiment(_run_selection, selection.summarise, _draw_selection),
}


def reproduce(request: Request, /, *, say: Say) -> tuple[list[Summary], list[Path]]:
    """Run an experiment, or what is left of it; write its JSON, tables and figures.

    Parameters
    ----------
    request : Request
        What to run, how much of it, and where results go.
    say : callable
        Takes one sentence at a time on what is decided on the way.

    Returns
    -------
    list of Summary
        The tables.
    list of Path
        Files of the results.
    """
    experiment = _checked(request)
    if request.draw_only:
        if not request.path(".json").exists():
            raise InputError(
                f"{request.path('.json')} does not exist, so there is nothing to draw: run without --draw-only"
            )
        record = read_record(request.path(".json"), request.experiment)
    else:
        record = experiment.run(request, say)
    summaries = experiment.summarise(record)
    with written_whole(request.path(".md")) as part:
        part.write_text("\n".join(summary.markdown() for summary in summaries), encoding="utf-8")
    return summaries, [request.path(".json"), request.path(".md"), *_draw(request, experiment, record, say)]


def _checked(request: Request) -> Experiment:
    """Refuse what cannot be met before any work is done."""
    if request.experiment not in EXPERIMENTS:
        raise InputError(f"there is no experiment {request.experiment!r}: choose one of {', '.join(EXPERIMENTS)}")
    if request.data is not None and request.experiment != "selection":
        raise InputError(f"--data is for the experiment 'selection', and {request.experiment!r} makes its own data")
    if request.data is not None and not request.data.is_dir():
        raise InputError(f"--data {request.data} is no folder: name the one that holds the data sets")
    try:
        request.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=request.out).close()
    except OSError as error:
        raise InputError(f"--out {request.out} cannot be written to ({error.strerror}): name another folder") from error
    return EXPERIMENTS[request.experiment]


def _draw(request: Request, experiment: Experiment, record: Record, say: Say) -> list[Path]:
    """Figures, or a word on why there are none."""
    try:
        figures = experiment.draw(record)
    except MissingExtraError as error:
        if request.draw_only:
            raise
        say(f"no figure: {error}")
        return []
    from renyi.report.plots import save

    paths = []
    for ending, figure in figures.items():
        if figure is not None:
            save(figure, request.path(f"{ending}.png"))
            paths.append(request.path(f"{ending}.png"))
    return paths
