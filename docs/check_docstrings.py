"""Validate the docstring of every public name, method and property against numpydoc; run by `make lint`."""

from __future__ import annotations

import inspect
import sys
from enum import Enum

from numpydoc.validate import validate

import levycollapse as lc

#: Left to taste: how descriptions begin and end (many begin with a symbol), extended summaries, See Also, where the
#: closing quotes stand, and examples (which the tests ask of every public function and run).
IGNORED = {
    "ES01",
    "SA01",
    "SA04",
    "EX01",
    "GL01",
    "GL02",
    "GL03",
    "RT02",
    "RT03",
    "PR06",
    "PR08",
    "RT04",
    "SS05",
    "SS06",
}


def public_paths():
    for name in [*lc.__all__, "networks", "training"]:
        item = getattr(lc, name)
        if inspect.ismodule(item):
            yield from (f"levycollapse.{name}.{inner}" for inner in item.__all__)
        else:
            yield f"levycollapse.{name}"


def members(path):
    item = resolve(path)
    if not inspect.isclass(item) or issubclass(item, (Exception, Enum, tuple)):
        return
    for name, member in vars(item).items():
        if not name.startswith("_") and (callable(getattr(item, name)) or isinstance(member, property)):
            yield f"{path}.{name}"


def resolve(path):
    item = lc
    for part in path.split(".")[1:]:
        item = getattr(item, part)
    return item


def documented(path):
    """Whether the item is of a kind that carries a docstring of its own."""
    item = resolve(path)
    return callable(item) or isinstance(item, property)


def main() -> int:
    problems = 0
    for path in public_paths():
        for target in [path, *members(path)]:
            if not documented(target):
                continue
            ignored = IGNORED | ({"PR01"} if inspect.isclass(resolve(target)) and path_is_result(target) else set())
            if isinstance(resolve(target), property):
                ignored = ignored | {"PR01", "RT01"}
            for code, message in validate(target)["errors"]:
                if code not in ignored:
                    print(f"{target}: {code} {message}")
                    problems += 1
    print(f"{problems} problems in the public docstrings")
    return 1 if problems else 0


def path_is_result(path):
    """Whether the class is a result, which the package makes, or a protocol: its attributes suffice."""
    item = resolve(path)
    return (
        hasattr(item, "__dataclass_fields__")
        or getattr(item, "_is_protocol", False)
        or issubclass(item, (Exception, Enum, tuple))
        or item in (lc.StationaryDensity, lc.DensityEvolution)
    )


if __name__ == "__main__":
    sys.exit(main())
