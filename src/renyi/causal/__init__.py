"""The conditional test for searches of causal graphs, which ask it of many pairs given many sets of other columns.

`conditional` has the test of a table, whose features are kept from one question to the next; pgmpy calls it as it is.
`causal_learn` makes it a test of causal-learn, and alone imports that package, when `register` is called.
"""

from typing import Any

from renyi.causal.conditional import ConditionalTest
from renyi.errors import check_text, load

__all__ = ["ConditionalTest", "register"]


def register(name: str = "renyi") -> Any:
    """Make the conditional test known to causal-learn, whose searches then take it by name.

    `pc(data, indep_test="renyi")` and the other searches pass their own keywords on, so that
    `pc(data, indep_test="renyi", types={"x3": "category"})` takes what `ConditionalTest` does.

    Parameters
    ----------
    name : str, default "renyi"
        What the searches are to call it.

    Returns
    -------
    type
        The class, a `CIT_Base` of causal-learn.

    Raises
    ------
    MissingExtraError
        Without causal-learn: pip install 'renyi[causal]'.
    """
    check_text(name, "name")
    load("causallearn.utils.cit", extra="causal")
    from renyi.causal import causal_learn

    return causal_learn.register(name)
