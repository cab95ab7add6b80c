"""Names of columns: as text, each once."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from renyi.data.notes import Notes
from renyi.errors import cut


def as_names(spelled: Iterable[Any], notes: Notes, /) -> list[str]:
    """The names as text, each once; what has none is called by its place."""
    names = []
    for place, name in enumerate(spelled, 1):
        blank = name is None or (isinstance(name, float) and math.isnan(name)) or not str(name).strip()
        names.append(f"column {place}" if blank else str(name))
    return each_once(names, notes)


def each_once(names: Sequence[str], notes: Notes, /) -> list[str]:
    """Names of which those that come again are numbered: a, a_2, a_3."""
    if len(set(names)) == len(names):
        return list(names)
    taken, found, renamed = set(names), [], []
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        own = name
        if seen[name] > 1:
            while (own := f"{name}_{seen[name]}") in taken:
                seen[name] += 1
            taken.add(own)
            renamed.append(f"{cut(name)} is {cut(own)}")
        found.append(own)
    more = f" and {len(renamed) - 3:,} more" if len(renamed) > 3 else ""
    notes.say(f"columns of the same name are numbered: the next {', the next '.join(renamed[:3])}{more}")
    return found


def with_names_once(data: Any, notes: Notes, /) -> Any:
    """A frame of pandas or Arrow, which may have columns of the same name, with a name for each."""
    is_arrow, is_pandas = (hasattr(data, name) for name in ("column_names", "set_axis"))
    names = data.column_names if is_arrow else data.columns if is_pandas and hasattr(data, "columns") else ()
    if len(set(names)) < len(names):
        numbered = as_names(names, notes)
        return data.rename_columns(numbered) if is_arrow else data.set_axis(numbered, axis=1)
    return data
