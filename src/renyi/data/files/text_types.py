"""Columns of text to numbers, dates, times and booleans, where all of their cells are; vectorised by Polars."""

import re
from typing import Any

from renyi.data.exact import EXACT, is_told_by_float
from renyi.data.notes import Notes
from renyi.data.spelled import MISSING_NUMBER, note_strays

# Programs write these for "missing" whatever the column; people write others, which may be levels of a category.
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
# Digits of decimal numbers at most.
MOST_DIGITS = 38
_WHOLE = re.compile(r"[+-]?\d+")
_SIGNS = "%$€£¥"
# How numbers are written: what it is called, its cells, and the marks between thousands.
_DECIMAL_COMMA = ("decimal commas", r"^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$", "")
_THOUSANDS_COMMA = ("commas between thousands", r"^[+-]?([1-9]\d{0,2}(,\d{3})*|0)(\.\d*)?$", ",")
_THOUSANDS_DOT = ("dots between thousands", r"^[+-]?([1-9]\d{0,2}(\.\d{3})*|0)(,\d*)?$", r"\.")
_THOUSANDS_GAP = ("gaps between thousands", "^[+-]?\\d{1,3}(['’\u00a0\u202f]\\d{3})*([.,]\\d*)?$", "['’\u00a0\u202f]")
# Cells that show what a comma is in the whole file: with a decimal point, with a decimal comma, and what is open.
_POINTS = r"^[+-]?(\d*\.(\d{1,2}|\d{4,})|(0?|\d{4,})\.\d+|[1-9]\d{0,2}(,\d{3})+\.\d+|[1-9]\d{0,2}(,\d{3}){2,})$"
_COMMAS = r"^[+-]?(\d*,(\d{1,2}|\d{4,})|(0?|\d{4,}),\d+|[1-9]\d{0,2}(\.\d{3})+,\d+|[1-9]\d{0,2}(\.\d{3}){2,})$"
_OPEN = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_HEAD = 64
_DAY, _CLOCK = r"\d{4}-\d{2}-\d{2}", r"\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
_DATES = {
    "dates": f"^{_DAY}$",
    "times": f"^{_CLOCK}$",
    "dates with times": f"^{_DAY}[T ]{_CLOCK}$",
    "dates with times and zones": rf"^{_DAY}[T ]{_CLOCK}\s?(Z|[+-]\d{{2}}:?\d{{2}})$",
}


def drop_values(pl: Any, frame: Any, values: tuple[str, ...]) -> Any:
    """The frame without the cells that the user calls missing, as text or as numbers."""
    if not values:
        return frame
    texts = [key for key, dtype in frame.schema.items() if dtype == pl.String]
    numbers = [key for key, dtype in frame.schema.items() if dtype.is_numeric()]
    known = pl.Series([value.strip() for value in values]).cast(pl.Float64, strict=False).drop_nulls().to_list()
    gone = [(key, pl.col(key).str.strip_chars().is_in(list(values))) for key in texts]
    gone += [(key, _is_one_of(pl, frame[key], known, values)) for key in numbers if known]
    return frame.with_columns(pl.when(~mask).then(pl.col(key)).alias(key) for key, mask in gone)


def _is_one_of(pl: Any, column: Any, known: list[float], values: tuple[str, ...]) -> Any:
    """Which cells of a column of numbers are among values, given as floats and as they are spelled."""
    if not column.dtype.is_integer():
        return pl.col(column.name).cast(pl.Float64).is_in(known)
    # As floats, large whole numbers beside the one that is meant would be among them, too.
    whole = {int(value) for value in known if abs(value) < EXACT and value == int(value)}
    whole |= {int(value) for value in values if _WHOLE.fullmatch(value.strip())}
    lowest, highest = (column.min(), column.max()) if column.null_count() < len(column) else (0, -1)
    within = sorted(value for value in whole if lowest <= value <= highest)
    cells = [pl.col(column.name) == pl.lit(value, dtype=column.dtype) for value in within]
    return pl.any_horizontal(pl.lit(False), *cells)


def rounds(text: Any, /) -> bool:
    """Whether cells spell numbers with more digits before the point than floats have."""
    return not all(map(is_told_by_float, text.filter(text.str.contains(r"^[+-]?\d{16,}")).unique()))


def type_columns(
    pl: Any, frame: Any, names: list[str], notes: Notes, *, decimal_comma: bool, as_text: frozenset[str] = frozenset()
) -> Any:
    """The frame, whose columns are called 0, 1, …, with the text columns in the types of all their cells.

    `decimal_comma` is whether '1,234' may be 1.234: it is where nothing else in the file says what a comma is. Columns
    `as_text` stay text.
    """
    texts = frame.select(pl.col(pl.String))
    labels = texts.select(key for key in texts.columns if key in as_text)
    texts = texts.drop(labels.columns)
    typed, doubtful = _cast_clean(pl, texts)
    clean = [key for key, column in typed.items() if column.dtype == pl.Float64]
    if decimal_comma:
        notes.marks = _marks(*([texts[key] for key in keys] for keys in (clean, doubtful)))
        decimal_comma = is_decimal_comma(notes.marks)
    written: set[str] = set()
    settings: dict[str, Any] = {"notes": notes, "decimal_comma": decimal_comma, "written": written}
    for key in doubtful:
        typed[key] = _Column(pl, texts[key], names[int(key)], **settings).typed()
    for key in labels.columns:
        typed[key] = _Column(pl, labels[key], names[int(key)], **settings).labels()
    if "decimal commas" in written:
        # In such a file a dot cannot be decimal: '1.234' beside '999' is a thousand.
        for key in clean:
            regrouped = _Column(pl, texts[key], names[int(key)], **settings).rewritten(texts[key], _THOUSANDS_DOT)
            typed[key] = typed[key] if regrouped is None else regrouped
    return frame.with_columns(column.alias(key) for key, column in typed.items())


def _marks(clean: list[Any], doubtful: list[Any]) -> set[str]:
    """What cells show about commas: that points are decimal, that commas are, or that one of them is open."""
    found = set()
    # What is a float has no comma.
    for name, pattern, texts in (
        ("points", _POINTS, [*clean, *doubtful]),
        ("commas", _COMMAS, doubtful),
        ("open", _OPEN, doubtful),
    ):
        # The first rows show it mostly.
        if any(text.head(_HEAD).str.contains(pattern).any() for text in texts) or any(
            text.str.contains(pattern).any() for text in texts
        ):
            found.add(name)
    return found


def is_decimal_comma(marks: set[str], /) -> bool:
    """Whether an open comma, such as that of 1,234, is decimal in a file that shows this about others."""
    return "points" not in marks or "commas" in marks


def _cast_clean(pl: Any, texts: Any) -> tuple[dict[str, Any], list[str]]:
    """The columns of plain numbers beyond doubt, all at once since there may be many, and the keys of the others."""
    left, typed, doubtful = texts.columns, {}, []
    each = pl.all()
    # Codes have leading zeros; NaN, infinities and inexact whole numbers are large.
    zeros = each.str.starts_with("0") & (each.str.len_bytes() > 1)
    large = ~(each.abs() < EXACT)
    for dtype, doubt in ((pl.Int64, zeros), (pl.Float64, large)):
        if not left:
            break
        text = texts.select(left)
        cast = text.select(each.cast(dtype, strict=False))
        before, after = text.null_count().row(0), cast.null_count().row(0)
        unsure = (text if dtype == pl.Int64 else cast).select(doubt.any()).row(0)
        for column, old, new, doubted in zip(cast.get_columns(), before, after, unsure, strict=True):
            if old == new:
                typed[column.name] = column
                if doubted:
                    doubtful.append(column.name)
        left = [key for key in left if key not in typed]
    return {key: column for key, column in typed.items() if key not in set(doubtful)}, [*doubtful, *left]


class _Column:
    """One column of text whose type is not plain."""

    def __init__(self, pl: Any, text: Any, name: str, *, notes: Notes, decimal_comma: bool, written: set[str]) -> None:
        self.pl, self.name, self.notes, self.written = pl, name, notes, written
        self.text = text.str.strip_chars()
        order = (_DECIMAL_COMMA, _THOUSANDS_COMMA) if decimal_comma else (_THOUSANDS_COMMA, _DECIMAL_COMMA)
        self.styles = (*order, _THOUSANDS_DOT, _THOUSANDS_GAP)

    def typed(self) -> Any:
        """The column in the type of all its observed cells, or as text."""
        pl = self.pl
        number = self.text.cast(pl.Float64, strict=False)
        finite = number.is_finite().fill_null(False)
        # Only cells that are no plain number need a look, each distinct one once.
        odd = self.text.filter(~finite).drop_nulls().alias("cell").value_counts()
        cell = odd["cell"]
        infinite = cell.cast(pl.Float64, strict=False).is_infinite().fill_null(False)
        missing = cell.str.to_lowercase().is_in(list(MISSING_NUMBER))
        rest = cell.filter(~(infinite | missing))
        observed = self._without(cell.filter(infinite | missing))
        column, kind = None, "numbers"
        if not len(rest):
            column = self._numbers(observed) if finite.any() else None
        elif finite.any():
            column = self._styled(observed, rest)
        else:
            column, kind = self._dates(observed, rest)
            if column is None:
                column, kind = self._signed(observed, rest), "numbers"
        if column is None:
            return self._labels(odd, finite.sum())
        kind = "digits" if column.dtype == pl.String else kind
        note_strays(self.name, dict(odd.filter(missing).iter_rows()), self.notes, kind=kind)
        if infinite.any():
            self.notes.hold_infinite(self.name, odd.filter(infinite)["count"].sum())
        return column

    def labels(self) -> Any:
        """The column as text."""
        return self._labels(self.text.drop_nulls().alias("cell").value_counts(), 0).cast(self.pl.String)

    def _without(self, cells: Any) -> Any:
        if not len(cells):
            return self.text
        return self.pl.select(self.pl.when(~self.text.is_in(cells.to_list())).then(self.text)).to_series()

    def _numbers(self, text: Any) -> Any:
        """Plain numbers, whole where all are, exact up to 64 bits; None if a cell is none, text if they are codes."""
        pl = self.pl
        for dtype in (pl.Int64, pl.UInt64, pl.Float64):
            number = text.cast(dtype, strict=False)
            if number.null_count() == text.null_count():
                break
        else:
            return None
        widths = text.str.len_bytes()
        if dtype != pl.Float64 and text.str.contains(r"^0\d").any() and widths.min() == widths.max():
            self.notes.hold(self.name, "digits of one width with leading zeros", "kept as text, as codes are")
            return text
        if dtype == pl.Float64 and number.abs().max() >= EXACT:
            return self._long(text) if rounds(text) else number
        return number

    def _long(self, text: Any) -> Any:
        """Numbers of which some have more digits than floats: with all of their digits, or as text."""
        what = "numbers with more digits than floats have"
        scale = text.str.extract(r"\.(\d+)$").str.len_bytes().max() or 0
        if scale < MOST_DIGITS and not text.str.contains("[eE]").any():
            number = text.cast(self.pl.Decimal(MOST_DIGITS, scale), strict=False)
            if number.null_count() == text.null_count():
                self.notes.hold(self.name, what, "read with all of them")
                return number
        self.notes.hold(self.name, what, "kept as text")
        return text

    def _styled(self, text: Any, rest: Any) -> Any:
        """Numbers with commas, or with marks between thousands; None if they are none."""
        for style in self.styles:
            if rest.str.contains(style[1]).all():
                column = self.rewritten(text, style)
                if column is not None:
                    return column
        return None

    def rewritten(self, text: Any, style: tuple[str, str, str]) -> Any:
        """The numbers of cells written in a style, or None if one is not."""
        called, pattern, marks = style
        if not text.str.contains(pattern).all():
            return None
        plain = text.str.replace_all(marks, "") if marks else text
        number = self._numbers(plain.str.replace(",", ".", literal=True))
        if number is not None and number.dtype != self.pl.String:
            self.written.add(called)
            example = text.filter(text.str.contains("[^0-9+-]"))
            shown = f"{example[0]!r} as {number.filter(text == example[0])[0]}" if len(example) else ""
            self.notes.hold(self.name, f"numbers with {called}", "read as numbers", example=shown)
            self.notes.styles[self.name] = called
        return number

    def _signed(self, text: Any, rest: Any) -> Any:
        """Numbers that all carry the same sign of a currency or per cent, or none at all."""
        column = self._styled(text, rest) if rest.str.contains(r"^[+-]?[\d,]").all() else None
        for sign in _SIGNS if column is None else "":
            # At one end, and everywhere: a sign in some cells only may set them apart.
            if rest.str.contains(rf"^([+-]?\s*[{sign}][^{sign}]*|[^{sign}]*[{sign}])$").all():
                text = text.str.replace(sign, "", literal=True).str.replace_all(r"\s", "")
                column = self._numbers(text)
                column = self._styled(text, text.drop_nulls()) if column is None else column
                if column is not None:
                    self.notes.hold(self.name, f"numbers with '{sign}'", "read as numbers without the sign")
        return column

    def _dates(self, text: Any, rest: Any) -> tuple[Any, str]:
        """Booleans, ISO dates, times, or both with or without a zone; None if a cell is none."""
        if rest.str.to_lowercase().is_in(["true", "false"]).all():
            return text.str.to_lowercase() == "true", "booleans"
        kind = next((kind for kind, pattern in _DATES.items() if rest.str.contains(pattern).all()), "text")
        if kind == "text":
            return None, kind
        # One spelling: a blank between date and time, seconds everywhere, zones as an offset without blank.
        if kind == "dates with times and zones":
            text = text.str.replace(r"\s?Z$", "+00:00").str.replace(r"\s([+-])", "${1}")
        if kind != "dates":
            text = text.str.replace("T", " ", literal=True)
            text = text.str.replace(r"(^|\s)(\d{1,2}:\d{2})($|[+-])", "${1}${2}:00${3}")
        if kind == "dates":
            column = text.str.to_date("%Y-%m-%d", strict=False)
        elif kind == "times":
            column = text.str.to_time("%H:%M:%S%.f", strict=False)
        else:
            unit = "ns" if rest.str.contains(r"\.\d{7}").any() else "us"
            zone = "%z" if kind == "dates with times and zones" else ""
            column = text.str.to_datetime(f"%Y-%m-%d %H:%M:%S%.f{zone}", strict=False, time_unit=unit)
        return (column, kind) if column.null_count() == text.null_count() else (None, kind)

    def _labels(self, odd: Any, n_numbers: int) -> Any:
        """The column as text, without the cells that are missing in any column."""
        missing = odd.filter(odd["cell"].is_in(list(_MISSING)))
        text = self._without(missing["cell"])
        for cell, times in missing.filter(missing["cell"] != "").sort("cell").iter_rows():
            self.notes.hold(self.name, f"{cell!r} among text", "read as missing", times)
        rest = odd.filter(~odd["cell"].is_in(list(_MISSING)))
        if not len(rest) and not n_numbers:
            return text.cast(self.pl.Float64)
        return text
