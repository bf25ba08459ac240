"""Parts: kernels that become machine code only within the function that Python calls.

numba makes machine code of every function, although most of ours are only ever inlined, and
optimises what it inlines again in each function around it. The code of a part waits in LLVM's
language until a whole, a function that Python calls, is complete. That saves up to half of the time
to compile, and the numbers are the same.
"""

import gc
from types import CodeType
from typing import Any

from purse.compiler.numba_contract import (
    CLOSURE_PASSES,
    NEEDLESS_PASSES,
    OPTIMISES_ONCE,
    Compiler,
    JITCodeLibrary,
)


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that is not machine code."""

    def _optimize_functions(self, module: Any) -> None:
        """Leave that to the whole."""

    def finalize(self) -> None:
        """Leave the code as it is."""
        self._finalized = True

    def own_code(self) -> Any:
        """Return the code without that of the kernels which it calls."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the code with all that it calls, for what numba compiles its own way."""
        module = self.own_code().clone()
        for library in _with_parts(self._linking_libraries):
            code = library.own_code() if isinstance(library, _Part) else None
            module.link_in(code or library._get_module_for_linking(), preserve=True)
        return module

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """Return the object that numba gives a function's environment, which a part lacks."""
        return _Part

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Keep no environment."""


class _Whole(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that Python calls, with all its parts."""

    def finalize(self) -> None:
        """Link the parts, optimise all together, and make machine code."""
        libraries: list[Any] = _with_parts(self._linking_libraries)
        for library in libraries:
            if isinstance(library, _Part):
                self._final_module.link_in(library.own_code(), preserve=True)
        self._linking_libraries: Any = [
            library for library in libraries if not isinstance(library, _Part)
        ]
        super().finalize()

    def _optimize_functions(self, module: Any) -> None:
        """Leave that to the end, too: then all functions are there."""

    def _optimize_final_module(self) -> None:
        """Optimise the whole once, and not cheaply before.

        numba's cheap passes find reference counts, which kernels do not have.
        """
        if not OPTIMISES_ONCE:
            super()._optimize_final_module()
            return
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)


def _with_parts(libraries: Any) -> list[Any]:
    """Return the libraries and those that their parts need, each once, callers before callees.

    LLVM leaves out what nothing calls yet, so a callee must not be linked before its callers.
    """
    ordered: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in ordered:
            for needed in library._linking_libraries if isinstance(library, _Part) else ():
                visit(needed)
            ordered[library] = None

    for library in libraries:
        visit(library)
    return list(ordered)[::-1]


class _LeanCompiler(Compiler):  # type: ignore[misc]
    """A compiler without the passes that look for what kernels do not have."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, less the needless ones."""
        pipelines = super().define_pipelines()
        codes = self.state.func_id.code.co_consts
        has_closures = any(isinstance(constant, CodeType) for constant in codes)
        needless = NEEDLESS_PASSES if has_closures else NEEDLESS_PASSES | CLOSURE_PASSES
        for pipeline in pipelines:
            pipeline.passes = [step for step in pipeline.passes if step[0] not in needless]
            pipeline.finalize()
        return list(pipelines)


class PartCompiler(_LeanCompiler):
    """The compiler of parts."""

    library = _Part

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        kind = type(self).library
        super().__init__(typing, target, library or kind(target.codegen(), kind.__name__), *rest)
        self.state.library.enable_object_caching()


class WholeCompiler(PartCompiler):
    """The compiler of functions that Python calls."""

    library = _Whole

    def compile_extra(self, function: Any) -> Any:
        """Compile the function; collect no garbage among what is being made meanwhile."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(function)
        finally:
            if collects:
                gc.enable()
