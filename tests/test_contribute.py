"""The pages for contributors, each carried out on a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "contribute").glob("add_*.md"))
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENOUGH = 4  # files that a page may touch, besides tests and the changelog


def edited(text, patch):
    """Apply a patch without line numbers: what it keeps and removes must stand there once."""
    lines = patch.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"mend the page, for this is not in the file once:\n{old}"
    return text.replace(old, new)


def run(command, tree):
    env = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(tree / "src"),
        "NUMBA_CACHE_DIR": str(tree.parent / "cache"),
    }
    done = subprocess.run(
        ["bash", "-euc", command], cwd=tree, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def contents(tree):
    """Return what every source, test and page of a tree holds, by its path."""
    kinds = (".py", ".pyi", ".md", ".toml")
    paths = [path for path in tree.glob("[!.]*/**/*") if path.suffix in kinds]
    paths += [path for path in tree.glob("*.*") if path.suffix in kinds]
    return {str(path.relative_to(tree)): path.read_text(encoding="utf-8") for path in paths}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The same for all pages: code that is compiled is found again by the path of its source."""
    return tmp_path_factory.mktemp("contribute")


@pytest.fixture
def tree(place):
    """A copy of everything, with what Python has compiled."""
    tree, ignored = place / "tree", shutil.ignore_patterns(".*")
    for name in ("src", "tests", "docs", "benchmarks", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tree)
    yield tree
    shutil.rmtree(tree)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_steps_work_as_printed(page, tree):
    before, ran, text = contents(tree), 0, page.read_text(encoding="utf-8")
    for language, path, block in BLOCK.findall(text):
        target = tree / path
        match language, bool(path):
            case "python", True:
                assert not target.exists(), f"{path} is there already"
                target.write_text(block, encoding="utf-8")
            case "diff", True:
                patched = edited(target.read_text(encoding="utf-8"), block)
                target.write_text(patched, encoding="utf-8")
            case "sh", False:
                run(block, tree)
                ran += 1
            case _:
                pytest.fail(f"nobody knows what to do with a block of {language} {path}")
    after = contents(tree)
    touched = [path for path in after if after[path] != before.get(path)]
    counted = [path for path in touched if not path.startswith("tests/")]
    assert ran
    assert 0 < len(counted) <= ENOUGH, counted
    assert f"touches {len(counted)} file" in text


def test_there_is_a_page_for_each_kind_and_contributing_names_them():
    assert [page.stem for page in PAGES] == [
        "add_a_loss",
        "add_a_penalty",
        "add_a_player",
        "add_a_solver",
        "add_an_option",
    ]
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for page in ROOT.glob("docs/contribute/*.md"):
        assert f"docs/contribute/{page.name}" in text


def test_the_map_names_every_folder_and_module():
    text = (ROOT / "docs" / "contribute" / "architecture.md").read_text(encoding="utf-8")
    for path in (ROOT / "src" / "stepless").iterdir():
        name = f"{path.name}/" if path.is_dir() else path.name
        if path.suffix in ("", ".py") and not path.name.startswith("__"):
            assert f"`{name}`" in text, f"{name} is not on the map"
