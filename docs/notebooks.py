"""Run the notebooks of docs/examples and write their outputs: `python docs/notebooks.py [NAME ...]`.

Cells are executed here, without Jupyter: what a cell prints, then its last value, as a notebook would show it. The
site shows notebooks as pages (`page_of`), and a test runs them again and compares (`run`).
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent / "examples"

Notebook = dict[str, Any]


def run(notebook: Notebook) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every cell of code with the outputs that it has now."""
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield cell, outputs_of("".join(cell["source"]), names)


def outputs_of(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and its last value unless it ends in a semicolon."""
    *first, last = ast.parse(source).body
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(first, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        else:
            exec(compile(ast.Module([last], []), "<cell>", "exec"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        outputs.append({"data": shown(value), "metadata": {}, "output_type": "display_data"})
    return outputs


def shown(value: Any) -> dict[str, Any]:
    """A value as text, and as HTML or a picture where it has these."""
    if hasattr(value, "savefig"):
        return {"image/png": picture(value), "text/plain": ["<Figure>"]}
    data: dict[str, Any] = {"text/plain": lines(repr(value))}
    page = value._repr_html_() if hasattr(value, "_repr_html_") else None
    return data if page is None else {"text/html": lines(page), **data}


def picture(figure: Any) -> str:
    """A figure as a PNG in base64; it is closed."""
    from matplotlib import pyplot

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=75, metadata={"Software": None})
    pyplot.close(figure)
    return base64.b64encode(drawn.getvalue()).decode()


def lines(text: str) -> list[str]:
    """Text as notebooks store it."""
    return text.splitlines(keepends=True)


def renew(path: Path) -> None:
    """Execute a notebook in a folder of its own and write it with its outputs."""
    notebook, before = json.loads(path.read_text()), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for count, (cell, outputs) in enumerate(run(notebook), start=1):
                cell |= {"execution_count": count, "outputs": outputs}
        finally:
            os.chdir(before)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


# For the site.


def page_of(notebook: Notebook, name: str) -> str:
    """A notebook as a page in Markdown."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [block for output in cell["outputs"] for block in blocks(output)]
    return "\n\n".join([*parts, f"{{download}}`This page as a notebook <{name}.ipynb>`"]) + "\n"


def blocks(output: dict[str, Any]) -> Iterator[str]:
    """An output as blocks of Markdown, by the richest form that it has."""
    data = output.get("data", {"text/plain": output.get("text", [])})
    if "image/png" in data:
        source = f"data:image/png;base64,{data['image/png']}"
        yield f'```{{raw}} html\n<img alt="What the cell above draws" src="{source}">\n```'
    elif "text/html" in data:
        yield f'```{{raw}} html\n<div class="cell-output">{"".join(data["text/html"])}</div>\n```'
    else:
        yield f"```text\n{''.join(data['text/plain'])}\n```"


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    names = sys.argv[1:] or sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
    for name in names:
        renew(EXAMPLES / f"{name}.ipynb")
        print(name)
