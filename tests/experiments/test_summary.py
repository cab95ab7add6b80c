from renyi.experiments.summary import Summary, number


def test_markdown():
    summary = Summary("Title", ("a|b", "n"), [("x", "1")], ("told once",))
    assert summary.markdown() == "### Title\n\n| a\\|b | n |\n| --- | ---: |\n| x | 1 |\n\nTold once.\n"
    assert [number(value) for value in (None, float("nan"), -0.001, -0.5)] == ["–", "–", "0.00", "−0.50"]
