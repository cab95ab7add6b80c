"""How Sphinx builds the documentation: `make docs`. Nothing in the pages comes from a network."""

import json
import sys
from pathlib import Path
from typing import Any

import latex2mathml.converter
from myst_parser.parsers.sphinx_ import MystParser

import renyi

sys.path.insert(0, str(Path(__file__).parent))
from notebooks import page_of

project = "renyi"
author = "The renyi developers"
project_copyright = "the renyi developers, BSD-3-Clause"
release = renyi.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# Pages are Markdown, docstrings are numpydoc, which says the types in words.
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
default_role = "literal"
smartquotes = False

html_theme = "furo"
html_title = f"renyi {release}"
html_static_path = ["static"]
html_css_files = ["renyi.css"]
html_theme_options = {"top_of_page_buttons": []}
html_show_sourcelink = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
html_math_renderer = "mathml"


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(latex2mathml.converter.convert(node.astext()))
    _done()


def _display(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{latex2mathml.converter.convert(node.astext(), display="block")}</div>')
    _done()


def _done() -> None:
    """The children of the node, which are the source of the formula, are not written."""
    from docutils import nodes

    raise nodes.SkipNode


class NotebookParser(MystParser):
    """Notebooks are shown with the outputs that are stored in them; nothing is executed."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: Any) -> None:
        super().parse(page_of(json.loads(inputstring), Path(document["source"]).stem), document)


def setup(app: Any) -> None:
    """Formulas become MathML when the pages are built: browsers show it without a script."""
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
