"""Contexts of the kernels, kept between calls with the same options so that a call for one row is short."""

from collections.abc import Callable
from typing import Any, NamedTuple

from estimators.networks._kernels.state import CodedRows, RunOptions, make_context


class Needs(NamedTuple):
    """Conditions that a context must have been made for if it is to serve a call.

    ``settings`` are compared by their values. ``owners`` are compared by identity: objects whose arrays the context
    shares, and changes.
    """

    options: RunOptions
    settings: tuple[Any, ...]
    owners: tuple[Any, ...]

    def are_those_of(self, other: "Needs") -> bool:
        """Return whether a context for the other serves this call."""
        return (
            self.options == other.options
            and self.settings == other.settings
            and all(mine is theirs for mine, theirs in zip(self.owners, other.owners, strict=True))
        )


class ReusableContext:
    """A context of the kernels for calls with the same needs.

    The ``batch`` of the workspace has room for the longest row of the first call.
    """

    def __init__(self, needs: Needs, workspace: Any) -> None:
        self.needs = needs
        self.workspace = workspace
        self.context = make_context(workspace)

    def fits(self, needs: Needs, rows: CodedRows) -> bool:
        """Return whether the context can serve a call."""
        fits = needs.are_those_of(self.needs)
        return fits and (needs.options.dense or bool((rows.ends - rows.starts).max() <= self.workspace.batch.length))


class ContextCache:
    """Keep one context for learning and one for predicting between calls.

    A call removes the context that it uses, so that threads that predict at the same time do not share one; after a
    call that failed, it is not put back. Contexts are not saved with the network.
    """

    def __init__(self) -> None:
        self._contexts: dict[bool, ReusableContext] = {}

    def __reduce__(self) -> tuple[type["ContextCache"], tuple[()]]:
        return ContextCache, ()

    def take(self, needs: Needs, rows: CodedRows, make_workspace: Callable[[], Any]) -> ReusableContext:
        """Remove the context that fits a call from the cache, or make one."""
        context = self._contexts.pop(needs.options.learn, None)
        if context is not None and context.fits(needs, rows):
            return context
        return ReusableContext(needs, make_workspace())

    def put_back(self, context: ReusableContext) -> None:
        """Keep a context for the next call."""
        self._contexts[context.needs.options.learn] = context
