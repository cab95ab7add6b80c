"""What stands between a tag and a release."""

import renyi
from released import ROOT, obstacles

FILES = ("src/renyi/__init__.py", "CITATION.cff", "CHANGELOG.md", "pyproject.toml")


def release(folder, *edits):
    """The files of this version, as if it was released today."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        for old, new in [("(unreleased)", "(2026-12-01)"), (".invalid", ".org"), *edits]:
            text = text.replace(old, new)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_nothing_is_in_the_way_of_what_is_dated_and_has_addresses(tmp_path):
    assert not list(obstacles(release(tmp_path), f"v{renyi.__version__}"))


def test_what_is_forgotten_is_told(tmp_path):
    assert len(list(obstacles(release(tmp_path), "v99.0.0"))) == 3
    (other,) = obstacles(release(tmp_path, ("version: ", "version: 9")), f"v{renyi.__version__}")
    assert other.startswith("CITATION.cff")
    (dateless,) = obstacles(release(tmp_path, ("(2026-12-01)", "(unreleased)")), f"v{renyi.__version__}")
    assert "CHANGELOG.md" in dateless
    (unset,) = obstacles(release(tmp_path, ("renyi.org", "renyi.invalid")), f"v{renyi.__version__}")
    assert unset.endswith("Homepage, Documentation, Source, Issues, Changelog")
