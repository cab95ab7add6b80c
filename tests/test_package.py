"""The house: what importing loads, what the command does, what is public."""

import pytest

import renyi
from command_line import python


def loaded_by(statement):
    run = python(f"import sys\n{statement}\nprint(*sys.modules)")
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_every_public_name_loads():
    for name in renyi.__all__:
        assert getattr(renyi, name).__doc__
    assert set(renyi.__all__) <= set(dir(renyi))
    assert renyi.__version__
    with pytest.raises(AttributeError):
        renyi.nothing  # noqa: B018


def test_importing_loads_no_library():
    assert not loaded_by("import renyi") & {"numpy", "scipy", "pandas", "narwhals", "matplotlib", "rich", "typer"}


def test_measuring_loads_only_what_it_needs():
    modules = loaded_by("import renyi; renyi.rdc(range(50), [i * i for i in range(50)])")
    assert not modules & {
        "scipy.stats",
        "scipy.optimize",
        "pandas",
        "polars",
        "narwhals",
        "matplotlib",
        "rich",
        "typer",
    }


def test_help_loads_no_numpy():
    run = python(
        "import sys; sys.argv = ['renyi', '--help']\n"
        "from renyi.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    print('numpy' in sys.modules)"
    )
    assert run.stdout.strip().endswith("False"), run.stderr
    assert "demo" in run.stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_command_without_its_extra_says_so_in_one_line(missing):
    run = python(f"import sys; sys.modules[{missing!r}] = None\nfrom renyi.__main__ import main; main()")
    assert run.returncode == 2
    assert run.stderr == f"renyi: {missing} is not installed and this call needs it: pip install 'renyi[cli]'\n"


def test_plot_without_matplotlib_names_the_extra():
    run = python(
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "import renyi\n"
        "try:\n    renyi.transformations(range(99), range(99)).plot()\n"
        "except ImportError as error:\n    print(error)"
    )
    assert "renyi[report]" in run.stdout, run.stderr
