"""A memory with several kinds of entries, to show in an editor."""

from pathlib import Path

from builders import commit_all, memory, write, write_entry

NODE = "src/nav/node.py"
THREADS = "memory/nav/architecture/threads.md"
ONE = "memory/nav/architecture/one-thread.md"
DRAFT = "memory/nav/architecture/three-threads.md"
RULE = "memory/nav/rules/callbacks.md"
CLOCKS = "memory/ros/rules/clocks.md"
EVIL = "```\n[run](command:rm) <img src=x onerror=alert(1)> ![i](http://e.example/i.png)\n```\u202e\n"


def lived_in(folder: Path) -> Path:
    """Return a repository with code and a memory of three wings: a project, a shared wing and another project."""
    root = memory(folder) / "memory"
    write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\nshared_wings: [ros]\n---\n\n# nav\n")
    write(root, "ros/README.md", "---\nkind: shared\nowners: [Ada]\ndescription: What robots share\n---\n")
    write(root, "shop/README.md", "---\nkind: project\nowners: [Bob]\n---\n")
    write_entry(
        root,
        "nav/architecture/threads",
        "Navigation uses two threads.\n\nRationale: it was measured.\n\n[see: nav/rules/callbacks, one-thread]\n",
        title="Use two threads",
        owner="nav team",
        tags=["threads"],
        applies_to=['"src/nav/**"'],
        supersedes=["nav/architecture/one-thread"],
        reason="two actions contend",
    )
    ended = {"status": "deprecated", "deprecated_at": "2026-03-05", "superseded_by": ["nav/architecture/threads"]}
    write_entry(root, "nav/architecture/one-thread", title="Use one thread", **ended)
    drafted = {"status": "draft", "supersedes": ["nav/architecture/threads"], "see": ["nav/architecture/one-thread"]}
    write_entry(root, "nav/architecture/three-threads", title="Use three threads", reason="more actions", **drafted)
    rule = "A callback must not block.\n\nRationale: the robot stops.\n"
    stated = {"type": "invariant", "applies_to": ["src/nav/node.py"], "see": ["ros/rules/clocks"]}
    write_entry(root, "nav/rules/callbacks", rule, title="Callbacks do not block", created_at="2024-01-01", **stated)
    write_entry(root, "ros/rules/clocks", "Use one clock.\n", type="pattern", title="One clock in a graph")
    write_entry(root, "ros/rules/hostile", EVIL, type="note", title='"<b>x</b> ``` [a](command:b)"')
    write_entry(root, "shop/rules/prices", title="Prices in cents")
    write(folder, NODE, "# nav/architecture/threads binds this, memory/nav/rules/callbacks.md too: wörk 😀\nimport x\n")
    write(folder, "src/nav/plan.py", "")
    write(folder, "src/ui.py", "print()\n")
    commit_all(folder, "more")
    return folder
