"""How the parts of kernels are compiled: to code that is linked into what calls it, and never runs by itself.

Numba optimizes each compiled function and makes machine code of it, even of one that only other compiled functions
call, into which its code is linked and optimized again. Of a part neither is done: what runs is linked and optimized
once, whole. Nor is a part searched for what kernels do without, such as closures. Together that halves the time until a
kernel runs first. And one compilation serves all integers, constants included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from llvmlite.binding import Linkage, ModuleRef
from numba import _dynfunc, types
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, StateDict
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typing import BaseContext, Signature

Types: TypeAlias = Sequence[types.Type]

_NO_ADDRESS = 0
# passes for closures, comprehensions, `with`, `literal_unroll`, parallel loops and such, which no part may have
_LEFT_OUT = {
    untyped_passes.FindLiterallyCalls,
    untyped_passes.InlineClosureLikes,
    untyped_passes.LiteralPropagationSubPipelinePass,
    untyped_passes.LiteralUnroll,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.WithLifting,
    typed_passes.DumpParforDiagnostics,
    typed_passes.InlineOverloads,
}


class PartLibrary(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """Code that is linked into other code."""

    _linking_libraries: list[CodeLibrary]
    _shared_module: ModuleRef | None

    def add_linking_library(self, library: CodeLibrary) -> None:
        """Note what is called, and what that calls, after all callers: LLVM links only what was asked for before."""
        super().add_linking_library(library)
        below = library._linking_libraries if isinstance(library, PartLibrary) else []
        above = [one for one in self._linking_libraries if one not in below]
        self._linking_libraries = [*dict.fromkeys([*above, *below])]

    def finalize(self) -> None:
        """Make no machine code, and link nothing yet; several callers may bring the same functions."""
        # Numba 0.62 has nothing to call when code is loaded.
        for library in self._linking_libraries if hasattr(self, "_reload_init") else ():
            self._reload_init.update(library._reload_init)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        self._finalized = True

    def _get_module_for_linking(self) -> ModuleRef:
        """Return the code with all that it calls."""
        if self._shared_module is None:
            whole = self._final_module.clone()
            for library in self._linking_libraries:
                is_part = isinstance(library, PartLibrary)
                whole.link_in(library._final_module if is_part else library._get_module_for_linking(), preserve=True)
            self._require_all(whole)
            self._shared_module = whole
        return self._shared_module

    def _require_all(self, whole: ModuleRef) -> None:
        """Raise an error if a part that is called was not linked: a call of it would jump to address 0."""
        parts = (library for library in self._linking_libraries if isinstance(library, PartLibrary))
        made = {one.name for library in parts for one in library._final_module.functions if not one.is_declaration}
        absent = sorted(one.name for one in whole.functions if one.is_declaration and one.name in made)
        if absent:
            raise RuntimeError(f"{self.name} must hold all parts that it calls. It lacks {', '.join(absent)}.")


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[untyped-decorator, unused-ignore]
class PartRewrites(typed_passes.NopythonRewrites):  # type: ignore[misc, unused-ignore]
    """Numba's fusion of operations on whole arrays, where there are any."""

    _name = "part_rewrites"

    def run_pass(self, state: StateDict) -> bool:
        """Fuse operations; return whether the function changed."""
        results = (signature.return_type for signature in state.calltypes.values() if signature is not None)
        return any(isinstance(kind, types.Array) for kind in results) and super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[untyped-decorator, unused-ignore]
class PartLowering(typed_passes.NativeLowering):  # type: ignore[misc, unused-ignore]
    """Numba's lowering, up to the point where code would be made to run."""

    _name = "part_lowering"

    def run_pass(self, state: StateDict) -> bool:
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


class RememberedOperators:
    """Numba's rules of types, where an operator is looked up once for each combination of types that it meets.

    Numba tries all its rules of an operator wherever it occurs, which takes up to a millisecond.
    """

    _signatures: ClassVar[dict[tuple[object, ...], Signature]] = {}

    def __init__(self, rules: BaseContext) -> None:
        self._rules = rules

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)

    def resolve_function_type(self, function: types.Type, args: Types, kws: Mapping[str, types.Type]) -> Signature:
        """Return the signature that a function has for arguments of these types."""
        operator = getattr(function, "typing_key", function)
        if operator is not bool and getattr(operator, "__module__", "") != "_operator":
            return self._rules.resolve_function_type(function, args, kws)
        key = operator, tuple(args)
        if key not in self._signatures:
            self._signatures[key] = self._rules.resolve_function_type(function, args, kws)
        return self._signatures[key]


class PartCompiler(CompilerBase):  # type: ignore[misc, unused-ignore]
    """Numba's compiler of functions without Python objects, for parts."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one list of passes."""
        self.state.typingctx = RememberedOperators(self.state.typingctx)
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = {typed_passes.NopythonRewrites: PartRewrites, typed_passes.NativeLowering: PartLowering}
        passes.passes = [(own.get(one, one), why) for one, why in passes.passes if one not in _LEFT_OUT]
        passes.finalize()
        return [passes]


def share_among_integers(dispatcher: Any) -> Any:
    """Let compiled code call one compilation for integers of all sizes, which become the largest, and for constants."""
    find_template, found = dispatcher.get_call_template, {}

    def find_shared_template(args: Types, kws: Mapping[str, types.Type]) -> object:
        key = tuple(map(_widened, args)), tuple((name, _widened(kind)) for name, kind in kws.items())
        if key not in found:
            found[key] = find_template(key[0], dict(key[1]))
        return found[key]

    dispatcher.get_call_template = find_shared_template
    return dispatcher


def _widened(kind: types.Type) -> types.Type:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind
