"""Plain data to one HTML file that holds all it needs, loads nothing, and shows every name as text."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from renyi.errors import InputError, as_path, load
from renyi.report.document import ReportOptions, document_of
from renyi.report.files import check_writable, written_whole
from renyi.report.sentences import noun
from renyi.report.summary import Result

_SCRIPTS = ("base.js", "charts.js", "pair.js", "pictures.js", "heatmap.js", "network.js", "table.js", "main.js")
_FIRST_SHOWN, _SHOWN_NOTES = 25, 5
# In a script element these could end it, or start a comment.
_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def write_report(result: Result, path: str | PathLike[str], options: ReportOptions, /) -> Path:
    """Write a report, as JSON where the name of the file ends so, else as a page; and say where it is."""
    return write_document(path, lambda: document_of(result, options), page_of)


def write_document(
    path: str | PathLike[str], made: Callable[[], dict[str, Any]], page: Callable[[dict[str, Any]], str], /
) -> Path:
    """Write a document, which is made once the path has been checked, as JSON or as its page; and say where it is."""
    target = as_path(path)
    check_report(target)
    document = made()
    text = json_of(document) + "\n" if target.suffix.lower() == ".json" else page(document)
    with written_whole(target) as part:
        # Half of a character, which a name may have, is spelled out.
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
    return target


def check_report(path: Path, /) -> None:
    """Refuse a path that no report can be written to, before any work is done."""
    kind = path.suffix.lower()
    if kind not in (".html", ".htm", ".json"):
        raise InputError(f"{path} does not name a kind of report: end it in .html, or in .json for its data")
    if kind != ".json":
        load("jinja2", extra="report")
    check_writable(path)


def environment_of_pages() -> Any:
    """How all pages are made of their templates."""
    jinja2 = load("jinja2", extra="report")
    return jinja2.Environment(
        autoescape=True,
        loader=jinja2.FunctionLoader(asset),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def page_of(document: dict[str, Any], /) -> str:
    """The page of a document."""
    jinja2, environment = load("jinja2", extra="report"), environment_of_pages()
    script, style = "\n".join(["(() => {", '"use strict";', *map(asset, _SCRIPTS), "})();"]), asset("style.css")
    page: str = environment.get_template("report.html").render(
        document=document,
        data=jinja2.utils.markupsafe.Markup(json_of(document).translate(_UNSAFE)),
        script=jinja2.utils.markupsafe.Markup(script),
        style=jinja2.utils.markupsafe.Markup(style),
        policy=policy_of(script, style),
        first=_first(document),
        types=_types(document),
        shown_notes=_SHOWN_NOTES,
    )
    return page


def asset(name: str, /) -> str:
    """What a page is made of, by its name."""
    return files("renyi.report.html").joinpath("assets", name).read_text(encoding="utf-8")


def json_of(document: dict[str, Any], /) -> str:
    """A document as JSON, without blanks."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def policy_of(script: str | None, style: str, /) -> str:
    """What a page may do: run its own script and style, known by their hashes, and reach nothing."""
    may_run = "" if script is None else f"script-src {_hash(script)}; "
    return f"default-src 'none'; {may_run}style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _types(document: dict[str, Any]) -> str:
    """How many columns are of which type."""
    counted = Counter(column["type"] for column in document["columns"])
    return ", ".join(f"{n:,} {noun(kind, n)}" for kind, n in counted.most_common())


def _first(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The strongest pairs for readers whose mail program runs no script."""
    pairs, columns = document["pairs"], document["columns"]
    return [
        {
            "x": columns[pairs["x"][k]]["label"],
            "y": columns[pairs["y"][k]]["label"],
            "strength": pairs["strength"][k],
            "n": pairs["n"][k],
            "found": pairs["found"][k],
            "missed": pairs["missed"][k],
        }
        for k in range(min(_FIRST_SHOWN, len(pairs["x"])))
    ]
