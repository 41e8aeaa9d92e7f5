"""A memory of a robot that reads the wing of another repository."""

from dataclasses import dataclass
from pathlib import Path

from builders import commit_all, made_once, make_repository, make_root, open_root, write, write_entry

from mdmem.store.workspace.workspace import Workspace

SHARED = "---\nkind: shared\nowners: [Ada]\n---\n\n# ros2\n"
PROJECT = "---\nkind: project\nowners: [Ada]\nshared_wings: [ros2]\n---\n\n# nav\n"
RULE = "A callback must not block its executor.\n\nRationale: the robot stops.\n"


@dataclass(frozen=True)
class Two:
    """The repository that shares a wing, and the repository that reads it."""

    lib: Path
    app: Path

    @property
    def root(self) -> Path:
        return self.app / "memory"

    def opened(self) -> Workspace:
        return open_root(self.root)

    def share(self, address: str, **fields: object) -> str:
        write_entry(self.lib / "memory", address, **fields)
        return commit_all(self.lib)


def two_repositories(folder: Path) -> Two:
    _both(folder)
    return Two(folder / "lib", folder / "app")


@made_once
def _both(folder: Path) -> Path:
    lib = make_repository(folder / "lib")
    shared = make_root(lib / "memory")
    write(shared, "ros2/README.md", SHARED)
    write_entry(shared, "ros2/rules/callbacks", RULE, type="invariant", title="Callbacks do not block")
    write_entry(shared, "ros2/rules/old", title="An older choice")
    commit_all(lib)
    app = make_repository(folder / "app")
    root = make_root(app / "memory", '[wings.ros2]\ngit = "../../lib"\nref = "main"\n')
    write(root, "nav/README.md", PROJECT)
    write_entry(root, "nav/rules/threads", title="Use two threads", see=["ros2/rules/callbacks"])
    commit_all(app)
    return folder
