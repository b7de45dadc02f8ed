"""How the parts of kernels are compiled: to code that is linked into what calls it, and never runs by itself.

Numba optimizes each compiled function and makes machine code of it, even of one that only other compiled functions
call, into which its code is linked and optimized again. Of a part neither is done: what runs is optimized once, whole.
That saves a third of the time until a kernel runs first. And one compilation serves all integers, constants included.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

_NO_ADDRESS = 0


class PartLibrary(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """Code that is linked into other code."""

    def _optimize_final_module(self) -> None:
        """Do nothing: what the code is linked into is optimized."""

    def _finalize_final_module(self) -> None:
        """Check what Numba checks, and make no machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[untyped-decorator, unused-ignore]
class PartLowering(NativeLowering):  # type: ignore[misc, unused-ignore]
    """Numba's lowering, up to the point where code would be made to run."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate the function, and register it under a name that compiled functions find it by."""
        library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.enable_object_caching()
        state.library, state.flags = library, state.flags.copy()
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        names = lowered.fndesc.lookup_module(), lowered.fndesc.qualname, ""
        entry_point = _dynfunc.make_function(*names, _NO_ADDRESS, lowered.env, (library,))
        state.targetctx.insert_user_function(entry_point, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=entry_point)
        return True


class PartCompiler(CompilerBase):  # type: ignore[misc, unused-ignore]
    """Numba's compiler of functions without Python objects, for parts."""

    def define_pipelines(self) -> list[Any]:
        """Return the one list of passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(PartLowering, why) if one is NativeLowering else (one, why) for one, why in passes.passes]
        passes.finalize()
        return [passes]


def share_among_integers(dispatcher: Any) -> Any:
    """Let compiled code call one compilation for integers of all sizes, which become the largest, and for constants."""
    find_template = dispatcher.get_call_template

    def find_shared_template(args: Any, kws: Any) -> Any:
        return find_template(tuple(map(_widened, args)), {name: _widened(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = find_shared_template
    return dispatcher


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind
