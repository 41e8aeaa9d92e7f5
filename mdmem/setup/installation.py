"""Find out how mdmem was installed, with which extras, and which command adds an extra or puts mdmem on the PATH."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

import mdmem


class Installation(Struct, frozen=True):
    """The Python environment in which mdmem is installed. `origin` is its `direct_url.json` (PEP 610)."""

    prefix: Path
    origin: Mapping[str, Any]
    is_virtual: bool = True

    def line_for(self, extra: str, *, on_path: bool = False) -> str:
        """Return the shell command that adds an extra to this installation, or puts mdmem with the extra on PATH."""
        url, vcs = str(self.origin.get("url", "")), self.origin.get("vcs_info", {}).get("vcs")
        source = f"mdmem[{extra}] @ {vcs}+{url}" if vcs else f"mdmem[{extra}]"
        wanted = shlex.quote(f"{unquote(urlsplit(url).path)}[{extra}]" if url.startswith("file:") else source)
        if on_path:
            return f"pipx install {wanted}"
        wanted = f"-e {wanted}" if self.origin.get("dir_info", {}).get("editable") else wanted
        if (self.prefix / "pipx_metadata.json").exists():
            return f"pipx install --force {wanted}"
        if (self.prefix / "uv-receipt.toml").exists():
            return f"uv tool install --force {wanted}"
        pip = shlex.quote(str(self.prefix / "bin" / "pip")) if self.is_virtual else "python3 -m pip"
        return f"{pip} install {wanted}"


def this_installation() -> Installation:
    """Return the installation that is running now."""
    try:
        kept = distribution("mdmem").read_text("direct_url.json")
    except PackageNotFoundError:
        kept = None
    return Installation(Path(sys.prefix), json.loads(kept) if kept else {}, sys.prefix != sys.base_prefix)


EXTRAS = {"mcp": "mcp", "lsp": "pygls", "site": "jinja2", "hub": "psycopg"}
"""The extras, and a module that only each of them installs."""


def describe_installation() -> dict[str, str]:
    """Return the facts for a bug report: version, commit, installed extras, Python and operating system."""
    commit = this_installation().origin.get("vcs_info", {}).get("commit_id")
    extras = [name for name, module in EXTRAS.items() if find_spec(module) is not None]
    return {
        "mdmem": mdmem.__version__,
        **({"commit": commit} if commit else {}),
        "extras": ", ".join(extras) or "none",
        "python": platform.python_version(),
        "system": platform.platform(),
    }
