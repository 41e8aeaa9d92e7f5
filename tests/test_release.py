"""What is released: the files of the wheel and of the sdist, and that the wheel runs without the checkout."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from builders import git

from mdmem import __version__

TOP = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a wheel that was built from an sdist, and of that sdist."""
    folder = tmp_path_factory.mktemp("release")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(TOP)]
    subprocess.run(build, check=True, capture_output=True, timeout=100)
    return folder


def test_wheel_has_the_package_alone(released: Path) -> None:
    (wheel,) = released.glob("*.whl")
    assert wheel.name == f"mdmem-{__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    packaged = [name for name in names if ".dist-info/" not in name]
    files = git(TOP, "ls-files", "mdmem").splitlines()
    assert sorted(packaged) == [name for name in files if not name.endswith(".png")]
    info = f"mdmem-{__version__}.dist-info"
    assert {f"{info}/METADATA", f"{info}/entry_points.txt", f"{info}/licenses/LICENSE"} <= set(names)


def test_sdist_has_what_a_build_needs_and_no_tests(released: Path) -> None:
    (sdist,) = released.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert tops == {
        ".gitignore",
        ".pre-commit-hooks.yaml",
        "LICENSE",
        "PKG-INFO",
        "README.md",
        "mdmem",
        "pyproject.toml",
    }


def test_wheel_answers_without_the_checkout(released: Path, tmp_path: Path) -> None:
    (wheel,) = released.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")

    def run(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(
            [sys.executable, "-m", "mdmem", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version") == f"mdmem {__version__}\n"
    verbose = dict(line.split(": ", 1) for line in run("--version", "--verbose").splitlines())
    # Without a checkout, the commit is not known.
    assert list(verbose) == ["mdmem", "extras", "python", "system"]
    assert verbose["extras"] == "mcp, lsp, site, hub"
    assert run("guide", "asking").startswith("# ")
    assert "blocking" in run("retrieve", "--root", str(TOP / "example-wings"), "blocking callbacks")
