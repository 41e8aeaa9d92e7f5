"""Both loaders of PyYAML: libyaml's, and the one in Python that stands in for it."""

import pytest
import yaml

from mdmem.document import strict


@pytest.fixture(params=["CBaseLoader", "BaseLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read with one of the loaders and return its name."""
    base = getattr(yaml, request.param)
    monkeypatch.setattr(strict, "_Loader", type("Loader", (base,), {"resolve": strict._Loader.resolve}))
    return str(request.param)
