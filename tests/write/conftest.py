"""Fixtures: a memory with one project, and an agent that saves records in it."""

from pathlib import Path

import pytest

from write.agents import Agent, agent, project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.fixture
def saves(root: Path) -> Agent:
    return agent(root)
