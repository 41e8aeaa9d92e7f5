"""The pictures of README and guide; `python -m guide.pictures`, in `tests`, makes them with Chromium."""

import contextlib
import io
import subprocess
import tempfile
from pathlib import Path

import mdmem.guide
from mdmem.cli.main import run

FOLDER = Path(mdmem.guide.__file__).parent
LINEAGE = "lineage.svg"
ENTRY = "lifecore_ros2/architecture/multi-threaded-executor-for-navigation"
_EXAMPLES = str(FOLDER.parents[1] / "example-wings")
# Each picture of a page: its file, the page, its size.
_PAGES = (("pages-rules.png", "index.html", "1000,620"), ("pages-entry.png", f"entries/{ENTRY}.html", "1000,760"))


def lineage() -> str:
    """Return the lineage of the README's decision as SVG."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert run(["why", "--root", _EXAMPLES, "--format", "svg", ENTRY]) == 0
    return printed.getvalue()


def main() -> None:
    """Write the pictures into the guide's folder."""
    (FOLDER / LINEAGE).write_text(lineage(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        assert run(["site", "build", "--root", _EXAMPLES, "--out", f"{folder}/site"]) == 0
        for name, page, size in _PAGES:
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={size}"]
            profile = ["--disable-background-networking", "--disable-sync", f"--user-data-dir={folder}/profile"]
            shown = f"file://{folder}/site/{page}"
            command = ["chromium", *options, *profile, f"--screenshot={FOLDER / name}", shown]
            subprocess.run(command, check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    main()
