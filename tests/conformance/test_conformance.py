"""Run the protocol's official conformance suite, in the current and the next version.

Tests without fixtures run against the server itself; the other ones only test the SDK.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import memory
from node import Node
from served import serving

_SUITES = {"0.1": "conformance/dist/index.js", "0.2": "conformance-next/dist/index.js"}
_NEED_NO_FIXTURE = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "sep-2164-resource-not-found",
    "server-stateless",
)
# Checks of `server-stateless` that need the suite's own tools.
_WITHOUT_FIXTURE = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
_FINE = ("SUCCESS", "INFO", "SKIPPED")


@pytest.mark.long
@pytest.mark.parametrize("suite", _SUITES)
def test_the_server_itself_conforms_where_no_fixture_is_needed(node: Node, tmp_path: Path, suite: str) -> None:
    found = tmp_path / "found"
    with serving(memory(tmp_path / "repo")) as server:
        asked = ["--suite", "all", "--output-dir", str(found)]
        node.run(_SUITES[suite], "server", "--url", server.url, *asked, cwd=tmp_path)
    checks = list(_checks(found))
    assert {"server-initialize", "tools-list", "dns-rebinding-protection"} <= {scenario for scenario, _ in checks}
    failed = [check for scenario, check in checks if scenario in _NEED_NO_FIXTURE and check["status"] not in _FINE]
    assert [check for check in failed if check["id"] not in _WITHOUT_FIXTURE] == []


def _checks(found: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each check with its scenario, which its folder is named after."""
    for path in sorted(found.glob("*/checks.json")):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", path.parent.name)
        yield from ((scenario, check) for check in json.loads(path.read_text()))
