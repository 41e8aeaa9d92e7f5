"""The editor's own two settings; all others are those of `mdmem.toml`, so that editor and CI agree."""

from __future__ import annotations

from typing import Any

from mdmem.dataclass import dataclass

SECTION = "mdmem"
_CODE_LENS = "textDocument/codeLens"


@dataclass(frozen=True, slots=True)
class Options:
    """Whether lenses are shown, and whether anything is said in code."""

    code_lens: bool = True
    in_code: bool = True

    def lets(self, method: str, *, in_code: bool) -> bool:
        """Say whether a request about a text is answered."""
        return (self.code_lens or method != _CODE_LENS) and (self.in_code or not in_code)


def options_from(said: Any, before: Options) -> Options:
    """Return the settings that an editor sends, with or without the section around them; what it does not say stays."""
    stated = said.get(SECTION, said) if isinstance(said, dict) else {}
    flags = {key: value for key, value in stated.items() if isinstance(value, bool)} if isinstance(stated, dict) else {}
    return Options(flags.get("codeLens", before.code_lens), flags.get("inCode", before.in_code))
