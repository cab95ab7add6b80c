"""What is public changes together with the changelog alone."""

import difflib

import pytest

from golden.public_api import CHANGELOG, FILE, body_of, digest, public_api, renewed

TEXT = FILE.read_text(encoding="utf-8")
NOW = "# Changes\n\n## 2.0 (unreleased)\n\n- New: `b`.\n\n## 1.0\n\n- New: `a`.\n"


def test_public_names_and_parameters_are_those_of_the_list():
    changes = difflib.unified_diff(
        body_of(TEXT).splitlines(), public_api().splitlines(), "listed", "public", "", "", 0, ""
    )
    told = "\n".join(changes)
    assert not told, f"{told}\nsay so in {CHANGELOG.name}, then run python tests/golden/{FILE.stem}.py"


def test_list_is_what_its_script_wrote():
    assert renewed(TEXT, body_of(TEXT), "# Changes\n\n## another\n") == TEXT, (
        f"lines of {FILE.name} were changed by hand or by a merge: run python tests/golden/{FILE.stem}.py"
    )


def test_change_wants_an_entry():
    first = renewed("", "a\n", NOW.replace("- New: `b`.\n", ""))
    assert body_of(first) == "a\n"
    second = renewed(first, "a\nb\n", NOW)
    assert body_of(second) == "a\nb\n"
    with pytest.raises(SystemExit, match=r"CHANGELOG\.md has not"):
        renewed(second, "b\n", NOW)
    # An older section, or white space, says nothing of it.
    with pytest.raises(SystemExit, match=r"CHANGELOG\.md has not"):
        renewed(second, "b\n", NOW.replace("`a`", "`a` and more").replace(": ", ":\n  "))
    # What is as it was stays as it was, whatever else the changelog says.
    assert renewed(second, "a\nb\n", NOW.replace("New", "Added")) == second


def test_what_was_changed_by_hand_or_merged_is_renewed_with_an_entry():
    first = renewed("", "a\n", NOW)
    by_hand = first.replace("a\n", "a\nb\n")
    with pytest.raises(SystemExit):
        renewed(by_hand, "a\nb\n", NOW)
    later = NOW.replace("`b`", "`b` and `c`")
    merged = f"<<<<<<< ours\n{first}=======\n{renewed(first, 'c', later)}>>>>>>> theirs\n"
    with pytest.raises(SystemExit):
        renewed(merged, "a\nc\n", later)
    assert body_of(renewed(merged, "a\nc\n", later.replace("New", "Added"))) == "a\nc\n"
    assert digest(first) != digest(merged)
