"""Public names of a package that are imported when they are first used."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def attach(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package; its names are listed by the module that defines them.

    Type checkers do not see these names: the package shows them imports of the form ``from module import name as name``
    under TYPE_CHECKING, and calls this function in the other branch.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    public = sorted(home_of)

    def find(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    return find, lambda: public, public
