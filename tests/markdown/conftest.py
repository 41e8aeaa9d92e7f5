"""Run tests with both loaders of PyYAML: that of libyaml, and the one in Python that replaces it."""

import pytest
import yaml

from mdmem.markdown import yaml_loader


@pytest.fixture(params=["CBaseLoader", "BaseLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read with one of the loaders and return its name."""
    monkeypatch.setattr(yaml_loader, "_Loader", getattr(yaml, request.param))
    return str(request.param)
