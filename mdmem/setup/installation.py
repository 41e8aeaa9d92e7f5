"""How this installation of mdmem was made, and what to type so that it has an extra, or can be found."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct


class Installation(Struct, frozen=True):
    """The environment that mdmem runs in, and where it came from: `origin` is what PEP 610 keeps of that."""

    prefix: Path
    origin: Mapping[str, Any]
    is_virtual: bool = True

    @property
    def command(self) -> Path:
        """Where the program of this environment lies."""
        return self.prefix / "bin" / "mdmem"

    def line_for(self, extra: str) -> str:
        """Return what to type so that this very installation has an extra."""
        wanted = self._source(extra)
        if (self.prefix / "pipx_metadata.json").exists():
            return f"pipx install --force {wanted}"
        if (self.prefix / "uv-receipt.toml").exists():
            return f"uv tool install --force {wanted}"
        pip = shlex.quote(str(self.prefix / "bin" / "pip")) if self.is_virtual else "python3 -m pip"
        return f"{pip} install {wanted}"

    def line_for_path(self, extra: str) -> str:
        """Return what to type so that programs find mdmem, with an extra."""
        return f"pipx install {self._source(extra, as_it_lies=False)}"

    def _source(self, extra: str, *, as_it_lies: bool = True) -> str:
        url = str(self.origin.get("url", ""))
        if url.startswith("file:"):
            is_editable = as_it_lies and bool(self.origin.get("dir_info", {}).get("editable"))
            return f"{'-e ' if is_editable else ''}{shlex.quote(f'{unquote(urlsplit(url).path)}[{extra}]')}"
        vcs = self.origin.get("vcs_info", {}).get("vcs")
        return shlex.quote(f"mdmem[{extra}] @ {vcs}+{url}" if vcs else f"mdmem[{extra}]")


def this_installation() -> Installation:
    """Return the installation that runs."""
    try:
        kept = distribution("mdmem").read_text("direct_url.json")
    except PackageNotFoundError:
        kept = None
    return Installation(Path(sys.prefix), json.loads(kept) if kept else {}, sys.prefix != sys.base_prefix)


def has_server() -> bool:
    """Say whether the libraries of the server are installed."""
    return find_spec("mcp") is not None
