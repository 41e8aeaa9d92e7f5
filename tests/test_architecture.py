"""Test layers and names: imports go down, without cycles; few modules import a library; a name has one meaning."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import mdmem

PACKAGE = Path(mdmem.__file__).parent

# A unit is a package of the house, a part of `store`, or a module beside them. From top to bottom: the higher layer
# imports the lower, and no unit imports one of its own layer.
ROWS = (
    {"__main__"},
    {"cli"},
    {"lsp", "mcp", "site"},
    {"render"},
    {"hub"},
    {"change"},
    {"exchange"},
    {"setup"},
    {"write"},
    {"ask"},
    {"checks"},
    {"store.workspace"},
    {"store.catalog", "store.index"},
    {"store.state", "store.tree"},
    {"store.git", "store.settings"},
    {"markdown"},
    {"model"},
    {"guide"},
    {"errors", "disk", "record"},
)
LAYERS = {f"mdmem.{unit}": layer for layer, units in enumerate(reversed(ROWS), 1) for unit in units} | {
    "mdmem": 0,
    "mdmem.store": 0,
}
# Every record is a `msgspec.Struct`.
ANYWHERE = {"mdmem", "msgspec"}
# Any other outside library: the only units that import it.
DOORS = {
    "anyio": {"mdmem.mcp"},
    "click": {"mdmem.cli"},
    "frontmatter": {"mdmem.markdown"},
    "git": {"mdmem.store.git"},
    "h11": {"mdmem.mcp"},
    "jinja2": {"mdmem.site"},
    "lsprotocol": {"mdmem.lsp"},
    "markdown_it": {"mdmem.site"},
    "markupsafe": {"mdmem.site"},
    "mcp": {"mdmem.mcp"},
    "mcp_types": {"mdmem.mcp"},
    "psycopg": {"mdmem.hub"},
    "pydantic": {"mdmem.model", "mdmem.mcp"},
    "pydantic_core": {"mdmem.model", "mdmem.mcp"},
    "pygls": {"mdmem.lsp"},
    "starlette": {"mdmem.mcp"},
    "uvicorn": {"mdmem.mcp"},
    "whoosh": {"mdmem.store.index"},
    "yaml": {"mdmem.markdown"},
}

# A module is read in one sitting.
LONGEST = 600


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
    return ".".join(parts[: 3 if parts[1:2] == ["store"] else 2])


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
    # Every module may import the package itself, which has only constants.
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
    others = {"mdmem.cli.editor", "mdmem.cli.programs"}
    assert users == {f"mdmem.store.git.{name}" for name in ("process", "commit", "remote")} | others


def test_what_is_printed_goes_through_one_door() -> None:
    printing = {"click.echo", "click.secho", "click.confirm", "click.prompt", "click.echo_via_pager", "print"}
    streams = {f"sys.{name}.{verb}" for name in ("stdout", "stderr") for verb in ("write", "writelines")}
    found = {module for module in modules() if calls(module) & (printing | streams)}
    assert found == {"mdmem.cli.common"}


def test_json_that_is_printed_goes_through_one_door() -> None:
    printing = [module for module in modules() if unit_of(module) in ("mdmem.cli", "mdmem.render")]
    found = {module for module in printing if "json.dumps" in calls(module)}
    assert found == {"mdmem.render.text"}


def test_no_module_is_long() -> None:
    lengths = {
        module: max((node.end_lineno or 0 for node in tree.body), default=0) for module, tree in modules().items()
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
    assert broad == ["mdmem.cli.main", "mdmem.errors"]


def test_rules_see_only_what_is_complete_before_they_run() -> None:
    rules = [module for module in modules() if module.startswith("mdmem.checks.rules.")]
    # A rule's helpers are reached through it, and may not open a root either.
    reached, todo = set(rules), list(rules)
    while todo:
        found = {name for name in own_imports(todo.pop()) if unit_of(name) == "mdmem.checks"} - reached
        reached |= found
        todo += found
    users = {module for module in reached for name in own_imports(module) if unit_of(name) == "mdmem.store.workspace"}
    assert rules
    assert users == set()


def test_page_of_the_guide_names_every_package() -> None:
    page = (PACKAGE / "guide" / "architecture.md").read_text(encoding="utf-8")
    missing = [unit for units in ROWS for unit in units if f"`{unit}`" not in page]
    assert missing == []
