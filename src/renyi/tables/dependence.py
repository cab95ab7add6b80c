"""What a table says of one pair of columns: `found["age", "income"]`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from renyi.data.column import Column
from renyi.errors import InputError
from renyi.pair import showing
from renyi.pair.transformations import transformations

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(showing.Record):
    """One pair of columns of a table that was compared; unpacks as `strength, pvalue`.

    Attributes
    ----------
    x, y : str
        The columns.
    strength : float
        How strong the dependence is, never below 0.
    coefficient, debiased : float
        The coefficient, and what is left of it without what independent data would show, which may be negative; NaN for
        measures other than the RDC.
    pearson, spearman : float
        Linear and monotone correlation beside it.
    pvalue, qvalue : float
        The p-value, and adjusted for all tests of the table.
    log_pvalue : float
        Natural logarithm of the p-value.
    n_samples : int
        Rows that both columns have.
    is_finding : bool
        Whether it is found at a false discovery rate of 5 %, or at the one that `renyi.pairs` was asked for.
    remark : str
        What the strength is without the one or two rows that carry it; mostly empty.
    given : tuple of str
        What was held fixed.
    measure : str
        The measure that the coefficient is of.
    """

    _internal = ("columns",)

    x: str
    y: str
    strength: float
    coefficient: float
    debiased: float
    pearson: float
    spearman: float
    pvalue: float
    qvalue: float
    log_pvalue: float
    n_samples: int
    is_finding: bool
    remark: str
    given: tuple[str, ...]
    measure: str
    columns: tuple[Column, Column] = field(repr=False)

    def __iter__(self) -> Iterator[float]:
        return iter((self.strength, self.pvalue))

    def __repr__(self) -> str:
        return str(showing.report().text_of_dependence(self))

    def summary(self) -> str:
        """The pair in words: what was found, how surely, and what kind of dependence it is."""
        return str(showing.report().text_of_dependence(self))

    def plot(self) -> "Figure":
        """Draw the two columns, and the functions of them that are most alike (`renyi.transformations`)."""
        if not all(len(column) for column in self.columns):
            raise InputError(
                "the rows of this table are not kept: pass its columns to renyi.transformations to draw them"
            )
        return transformations(*self.columns, missing="pairwise").plot()


def dependence_of(result: Any, edge: int, given: tuple[str, ...] = (), /) -> Dependence:
    """One pair of a result on a table."""
    place = np.array([edge], dtype=np.intp)
    result.edges.look_at(place)
    edges = result.edges.take(place)
    x, y = edges.x[int(edges.found.i[0])], edges.y[int(edges.found.j[0])]
    qvalue = float(result.edge_qvalues[edge])
    return Dependence(
        x=x.column.name,
        y=y.column.name,
        strength=float(edges.strength[0]),
        coefficient=float(edges.found.coefficient[0]),
        debiased=float(edges.debiased[0]),
        pearson=float(edges.pearson[0]),
        spearman=float(edges.spearman[0]),
        pvalue=float(edges.pvalues[0]),
        qvalue=qvalue,
        log_pvalue=float(edges.log_pvalues[0]),
        n_samples=int(edges.found.n[0]),
        is_finding=qvalue <= result.fdr,
        remark=str(edges.remark(0)),
        given=given,
        measure=edges.measure,
        columns=(x.shown, y.shown),
    )
