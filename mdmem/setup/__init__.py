"""The configuration files of agents' clients: read with their comments, and grown by one server and nothing else."""

from __future__ import annotations

from mdmem.setup.client_config import Grown, MisfitError, grow_json, grow_toml

__all__ = ["Grown", "MisfitError", "grow_json", "grow_toml"]
