"""The layers and the names: imports point down and not in circles, each library has a door, a name means one thing."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import mdmem

PACKAGE = Path(mdmem.__file__).parent

# A unit is a package, whose members may import one another, or a module beside them. From top to bottom: the higher
# layer imports the lower, and no unit imports one of its own layer.
ROWS = (
    {"__main__"},
    {"cli"},
    {"lsp", "mcp", "site"},
    {"render"},
    {"hygiene", "hub", "status"},
    {"saving", "synthesis", "merge", "sync", "exchange", "events"},
    {"authoring", "context", "review", "history"},
    {"checks", "retrieval", "setup"},
    {"workspace"},
    {"catalog", "index"},
    {"state", "tree"},
    {"git", "document", "settings", "lineage"},
    {"access", "arguments", "finding", "guide", "profile", "reply", "similarity"},
    {"entry", "standing"},
    {"errors", "disk", "record"},
    {"digests"},
)
LAYERS = {f"mdmem.{unit}": layer for layer, units in enumerate(reversed(ROWS), 1) for unit in units} | {"mdmem": 0}
# Every record is a `msgspec.Struct`.
ANYWHERE = {"mdmem", "msgspec"}
# Any other outside library: the only units that import it.
DOORS = {
    "anyio": {"mdmem.mcp"},
    "click": {"mdmem.cli"},
    "frontmatter": {"mdmem.document"},
    "git": {"mdmem.git"},
    "h11": {"mdmem.mcp"},
    "jinja2": {"mdmem.site"},
    "lsprotocol": {"mdmem.lsp"},
    "markdown_it": {"mdmem.site"},
    "markupsafe": {"mdmem.site"},
    "mcp": {"mdmem.mcp"},
    "mcp_types": {"mdmem.mcp"},
    "psycopg": {"mdmem.hub"},
    "pydantic": {"mdmem.entry", "mdmem.mcp"},
    "pydantic_core": {"mdmem.entry", "mdmem.mcp"},
    "pygls": {"mdmem.lsp"},
    "starlette": {"mdmem.mcp"},
    "uvicorn": {"mdmem.mcp"},
    "whoosh": {"mdmem.index"},
    "yaml": {"mdmem.document"},
}

# A class's name that two modules have, and why that may be.
SHARED_NAMES: dict[str, str] = {}
# The last word of a module's name is a thing; these look like what is done or what was done to something.
THINGS = {
    "finding": "the domain's noun",
    "standing": "the domain's noun",
    "spelling": "a noun",
    "authoring": "a layer's name",
    "saving": "a layer's name",
    "scoring": "an activity that no thing has given a name",
    "filtered": "a kind of tree",
    "working": "a kind of tree, as git calls it",
    "pending": "a command's name",
}
DOING = re.compile(r".+(?:ed|ing)")
PRONOUNS = re.compile(r"all|any|both|each|it|ones?|others?|ours?|own|some|that|th[eo]se|they|this|what|which|who")
EMPTY = re.compile(r"helpers?|utils?|misc|managers?|services?|data|info|processors?")
# A rule is a module of its own, named by the code of its finding; some say much of what they look for.
RULES = "mdmem.checks.rules"
LONGEST = 370


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(modules()[module]))


@cache
def calls(module: str) -> frozenset[str]:
    """Return what a module calls, each by its name with dots."""
    return frozenset(dotted(node.func) for node in nodes(module) if isinstance(node, ast.Call))


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@pytest.fixture(scope="module", autouse=True)
def read_once() -> Iterator[None]:
    """Let the trees go at the end: they are most of what the collector of garbage would go over in all that follows."""
    yield
    for kept in (modules, nodes):
        kept.cache_clear()


def unit_of(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2])


@cache
def imports_of(module: str) -> tuple[str, ...]:
    """Return what a module imports, late and typing-only imports included."""
    return tuple(_imports_of(module))


def _imports_of(module: str) -> Iterator[str]:
    for node in nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively, line {node.lineno}"
            base = node.module or ""
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if whole in modules() else base


def own_imports(module: str) -> set[str]:
    return {name for name in imports_of(module) if name in modules() and name != module}


def test_every_module_is_on_a_layer_and_every_layer_exists() -> None:
    units = {unit_of(module) for module in modules()}
    assert units - set(LAYERS) == set(), "on no layer: add the unit to LAYERS, or move its modules"
    assert set(LAYERS) - units == set(), "in LAYERS, and nowhere else"


def test_imports_point_to_lower_layers() -> None:
    # The package itself holds nothing but its version, which anybody may read.
    upward = [
        f"{module} imports {name}"
        for module in modules()
        for name in own_imports(module)
        if unit_of(name) not in (unit_of(module), "mdmem") and LAYERS[unit_of(name)] >= LAYERS[unit_of(module)]
    ]
    assert upward == []


def test_no_module_is_on_an_import_cycle() -> None:
    graph = {module: own_imports(module) for module in modules()}

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for name in graph[todo.pop()] - seen:
                seen.add(name)
                todo.append(name)
        return seen

    assert [module for module in graph if module in reach(module)] == []


def test_each_outside_library_is_imported_through_its_doors() -> None:
    users: dict[str, set[str]] = {}
    for module in modules():
        for name in {name.split(".")[0] for name in imports_of(module)} - sys.stdlib_module_names - ANYWHERE:
            users.setdefault(name, set()).add(unit_of(module))
    assert users == DOORS


def test_only_git_and_the_editor_start_processes() -> None:
    users = {module for module in modules() for name in imports_of(module) if name == "subprocess"}
    others = {"mdmem.cli.editor", "mdmem.events.limit"}
    assert users == {f"mdmem.git.{name}" for name in ("process", "blobs", "commit", "fetch")} | others


def test_what_is_printed_goes_through_one_door() -> None:
    printing = {"click.echo", "click.secho", "click.confirm", "click.prompt", "click.echo_via_pager", "print"}
    streams = {f"sys.{name}.{verb}" for name in ("stdout", "stderr") for verb in ("write", "writelines")}
    found = {module for module in modules() if calls(module) & (printing | streams)}
    assert found == {"mdmem.cli.common"}


def test_json_that_is_printed_goes_through_one_door() -> None:
    printing = [module for module in modules() if unit_of(module) in ("mdmem.cli", "mdmem.render")]
    found = {module for module in printing if "json.dumps" in calls(module)}
    assert found == {"mdmem.render.characters"}


def test_a_public_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for module, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    shared = {name: found for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in SHARED_NAMES} == {}
    assert SHARED_NAMES.keys() - shared.keys() == set(), "an exception that is none any more"


def test_a_module_is_named_by_what_it_holds() -> None:
    last_words = {module: module.split(".")[-1].split("_")[-1] for module in modules() if not is_rule(module)}
    found = {
        module
        for module, word in last_words.items()
        if PRONOUNS.fullmatch(word) or (DOING.fullmatch(word) and word not in THINGS)
    }
    empty = {module for module in last_words if any(map(EMPTY.fullmatch, module.split(".")[-1].split("_")))}
    assert sorted(found | empty) == []
    assert THINGS.keys() - set(last_words.values()) == set(), "an exception that is none any more"


def is_rule(module: str) -> bool:
    return module.startswith(f"{RULES}.")


def test_few_functions_only_hand_on_what_they_are_given() -> None:
    asked_for = {
        function.name
        for tree in modules().values()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases)
        for function in functions_of(node)
    }
    found = [f"{module}.{name}" for module, tree in modules().items() for name in forwarders(tree, asked_for)]
    assert len(found) < 15, found


def forwarders(tree: ast.Module, asked_for: set[str]) -> Iterator[str]:
    """Yield functions that are one call whose arguments are their own parameters, and that no interface asks for."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.bases]
    yield from (one.name for one in functions_of(tree) if hands_on(one))
    yield from (
        one.name for node in classes for one in functions_of(node) if hands_on(one) and one.name not in asked_for
    )


def functions_of(node: ast.Module | ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]


def hands_on(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    *doc, last = function.body
    call = last.value if isinstance(last, (ast.Return, ast.Expr)) else None
    call = call.value if isinstance(call, ast.Await) else call
    if not isinstance(call, ast.Call) or not all(isinstance(one, (ast.Expr, ast.ImportFrom)) for one in doc):
        return False
    called = ast.unparse(call.func)
    if not re.fullmatch(r"[\w.]+", called) or called in vars(builtins):
        return False
    given = function.args
    own = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one}
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [one.value if isinstance(one, ast.Starred) else one for one in values]
    return bool(names) and all(isinstance(one, ast.Name) and one.id in own for one in names)


def test_no_module_is_long() -> None:
    lengths = {
        module: max((node.end_lineno or 0 for node in tree.body), default=0)
        for module, tree in modules().items()
        if not is_rule(module)
    }
    assert {module: lines for module, lines in lengths.items() if lines > LONGEST} == {}


def test_broad_excepts_are_the_boundaries() -> None:
    broad = [
        module
        for module in modules()
        for node in nodes(module)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
    ]
    assert broad == [
        "mdmem.checks.engine",
        "mdmem.cli.main",
        "mdmem.lsp.server",
        "mdmem.mcp.calls",
        "mdmem.mcp.calls",
    ]


def test_rules_see_only_what_is_complete_before_they_run() -> None:
    rules = [module for module in modules() if module.startswith("mdmem.checks.rules.")]
    # A rule's helpers are reached through it, and may not open a root either.
    reached, todo = set(rules), list(rules)
    while todo:
        found = {name for name in own_imports(todo.pop()) if unit_of(name) == "mdmem.checks"} - reached
        reached |= found
        todo += found
    users = {module for module in reached for name in own_imports(module) if unit_of(name) == "mdmem.workspace"}
    assert rules
    assert users == set()


def test_page_of_the_guide_has_these_layers() -> None:
    page = (PACKAGE / "guide" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (`.+?) \|", page, re.MULTILINE)
    told = {f"mdmem.{unit}": int(number) for number, units in rows for unit in re.findall(r"`(\w+)`", units)}
    # The page has one row for the words at the bottom, which here stand in the order in which they import one another.
    lowest = min(LAYERS[unit] for unit, number in told.items() if number == 1)
    assert {unit: max(0, layer - lowest + 1) for unit, layer in LAYERS.items() if layer} == told | {
        "mdmem.__main__": 12
    }
