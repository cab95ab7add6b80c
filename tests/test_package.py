"""The house: what importing loads, how `__main__` starts the command, what is public, and that nothing is untested."""

import ast
import re
from pathlib import Path

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_plot_without_matplotlib_names_the_extra():
    run = python(
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "import renyi\n"
        "try:\n    renyi.transformations(range(99), range(99)).plot()\n"
        "except ImportError as error:\n    print(error)"
    )
    assert "renyi[report]" in run.stdout, run.stderr


# Tests have the tree of the package.


def named_in(folder):
    """What the docstrings of the test files of a folder name in backquotes."""
    files = [ast.parse(file.read_text(encoding="utf-8")) for file in folder.glob("test_*.py")]
    return {name for file in files for name in re.findall(r"`([\w/]+)`", ast.get_docstring(file) or "")}


def modules_without_tests(source, tests):
    """Modules that neither have a test file of their name nor are named by one in their folder, or in that above it."""
    modules = [path.relative_to(source) for path in source.rglob("*.py") if path.stem != "__init__"]
    return [
        module.as_posix()
        for module in sorted(modules)
        if not (tests / module.with_name(f"test_{module.name}")).exists()
        and module.stem not in named_in(tests / module.parent)
        and f"{module.parent.name}/{module.stem}" not in named_in((tests / module.parent).parent)
    ]


def test_every_module_has_tests():
    missing = modules_without_tests(Path(renyi.__file__).parent, Path(__file__).parent)
    assert not missing, f"no tests/<folder>/test_<module>.py and no docstring there names: {', '.join(missing)}"


def test_modules_without_tests_are_told(tmp_path):
    for name in ("__init__", "top", "room/own", "room/named", "room/none", "room/inner/above", "room/inner/top"):
        path = tmp_path / "source" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "tests" / "room").mkdir(parents=True)
    (tmp_path / "tests" / "test_top.py").touch()
    (tmp_path / "tests" / "room" / "test_own.py").write_text('"""Of `named`, and of `inner/above`."""\n"""`none`"""\n')
    assert modules_without_tests(tmp_path / "source", tmp_path / "tests") == ["room/inner/top.py", "room/none.py"]
