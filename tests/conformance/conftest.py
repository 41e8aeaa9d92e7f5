"""Fixture: Node with the official conformance programs."""

import pytest
from node import Node, installed


@pytest.fixture(scope="session")
def node(request: pytest.FixtureRequest) -> Node:
    return installed(request.config.cache.mkdir("node"))
