"""Which columns of a table in batches are compared with which: what was asked, once a batch has shown its columns."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from renyi.data.table import check_known, checked_overrides, checked_types, checked_vectors, named_vectors
from renyi.data.types import Override
from renyi.errors import InputError, are_several, difference, must_be
from renyi.tables.rows import Rows


@dataclass(frozen=True, eq=False)
class Roles:
    """What is compared with what.

    `keys` are those of all columns of a batch. `columns` has what is compared by its key: the columns of a batch that
    it is made of, several where it is a vector; `names` how it is called. All others are compared with the `partners`,
    if there are any, and with one another if not.
    """

    keys: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]
    names: dict[str, str]
    partners: frozenset[str] = frozenset()
    # Names of columns of a batch that are not their keys.
    spelled: Mapping[str, str] = field(default_factory=dict)

    def check(self, keys: Collection[str], /) -> None:
        """Refuse a batch of other columns."""
        if list(keys) != list(self.keys):
            said = difference(list(keys), list(self.keys)) or "has its columns in another order"
            raise InputError(f"a batch {said}: give all batches the same columns")

    def called(self, key: str, /) -> str:
        """The name of a column of a batch."""
        return self.spelled.get(key, key)

    def of(self, rows: Rows, key: str, /) -> list[Any]:
        """The cells of a column, of all coordinates where it is a vector."""
        return [rows.parts[own] for own in self.columns[key]]


@dataclass(frozen=True)
class Asked:
    """What the user asks for, by names: a target, partners of all other columns, types, and vectors."""

    target: tuple[str, ...] | None
    others: tuple[str, ...] | None
    types: dict[str, Override]
    vectors: dict[str, list[str]]

    @classmethod
    def of(cls, target: Any, others: Any, types: Any, vectors: Any, /) -> "Asked":
        """From arguments of the same names."""
        if target is not None and others is not None:
            raise InputError("target and others both say what columns are compared with: leave one of them out")
        goal, partners = (
            None if names is None else _names(names, role) for names, role in ((target, "target"), (others, "others"))
        )
        if goal == ():
            raise InputError("target names no column: pass one, or several as a vector")
        return cls(goal, partners, checked_types(types), named_vectors(vectors))

    @property
    def goal(self) -> str | None:
        """What the target is called."""
        return None if self.target is None else " & ".join(self.target)

    def roles(self, rows: Rows, /) -> Roles:
        """Who is who among the columns of a batch."""
        if rows.others:
            return self._of_two(rows)
        own = {key: key for key in rows.parts}
        for name in self.types:
            check_known(name, own, "the batch", "types")
        vectors = checked_vectors(self.vectors, own, "the batch")
        if self.target is not None and len(self.target) > 1:
            vectors = checked_vectors({**vectors, str(self.goal): self.target}, own, "the batch")
        columns, names = _joined(own, vectors, ())
        if self.others is not None:
            check_partners(self.others, columns, (), "the batch")
        if self.goal is not None:
            _check_there(self.goal, columns, (), "the batch", "target")
        wanted = self.others or () if self.goal is None else (self.goal,)
        return Roles(tuple(rows.parts), columns, names, frozenset(wanted))

    def _of_two(self, rows: Rows) -> Roles:
        """The same for the columns of two tables, of which each has the vectors whose parts it has."""
        if self.target is not None or self.others is not None:
            raise InputError("a second table says what columns are compared with: leave target and others out")
        own = {key: key for key in rows.parts if key not in rows.others}
        vectors = checked_overrides(self.types, self.vectors, [*own, *rows.others.values()])[1]
        columns: dict[str, tuple[str, ...]] = {}
        names: dict[str, str] = {}
        for known, argument in ((own, "the table"), (rows.others, "other")):
            called = set(known.values())
            here = {vector: parts for vector, parts in vectors.items() if called & set(parts)}
            partners, of_partners = _joined(known, checked_vectors(here, called, argument), columns)
            columns, names = columns | partners, names | of_partners
        return Roles(tuple(rows.parts), columns, names, frozenset(partners), rows.others)


def _names(names: Any, role: str) -> tuple[str, ...]:
    """One name of a column or several, as text."""
    if isinstance(names, str):
        return (names,)
    if not are_several(names):
        raise must_be(role, "the name of a column, or several", names)
    return tuple(map(str, names))


def _joined(
    known: Mapping[str, str], vectors: Mapping[str, Sequence[str]], taken: Collection[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Columns and vectors, with their names, given names of columns by keys; a vector is where its first part is."""
    keys = {name: key for key, name in known.items()}
    vector_of = {part: vector for vector, parts in vectors.items() for part in parts}
    columns: dict[str, tuple[str, ...]] = {}
    names = {}
    for own, name in known.items():
        called = vector_of.get(name, name)
        key = own if name not in vector_of else called
        while key in taken:
            key += " (other)"
        columns.setdefault(key, (own,) if name not in vector_of else tuple(keys[part] for part in vectors[called]))
        names[key] = called
    return columns, names


def check_partners(
    names: Sequence[str], columns: Mapping[str, Sequence[str]], skipped: Collection[str], argument: str = "the table", /
) -> None:
    """Refuse partners that are not there; columns have the parts that they are made of."""
    if not names:
        raise InputError("other names no column: pass one or more, or leave it out")
    for name in names:
        _check_there(name, columns, skipped, argument, "other")


def _check_there(
    name: str, columns: Mapping[str, Sequence[str]], skipped: Collection[str], argument: str, role: str
) -> None:
    for key, parts in columns.items():
        if name in parts and name != key:
            raise within_vector(name, key, role)
    check_known(name, [*columns, *skipped], argument, role)


def within_vector(name: str, vector: str, role: str, /) -> InputError:
    """For a name that is only part of a vector."""
    return InputError(f"{role} {name!r} is part of the vector {vector!r}: name that one, or leave it out of vectors")
