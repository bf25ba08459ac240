"""A memory for numba's typing: it looks through all its templates for every operator in every
kernel, although the same types always give the same result.
"""

from __future__ import annotations

from typing import Any

from numba import types


class TypingMemory:
    """numba's typing context; it keeps what the calls of numba's own functions and operators
    return.

    What kernels return is not kept here: their dispatchers do that.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._known: dict[Any, tuple[Any, Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        """Leave all the rest to numba's."""
        return getattr(self._context, name)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, as numba does."""
        if kws or (isinstance(func, types.Type) and not isinstance(func, types.Function)):
            return self._context.resolve_function_type(func, args, kws)
        known, signature, code = self._known.get((func, args), (None, None, None))
        # numba finds the code by the very function that was asked, which a compilation for a GPU
        # may have told of other code
        if known is not func or code is not _code(func, signature):
            signature = self._context.resolve_function_type(func, args, kws)
            if signature is not None:
                self._known[func, args] = func, signature, _code(func, signature)
        return signature


def _code(func: Any, signature: Any) -> Any:
    """Return what numba finds the code of a call by, where the function tells it."""
    return func.get_impl_key(signature) if isinstance(func, types.Function) else None


_memories: dict[Any, TypingMemory] = {}


def remember(context: Any, inline: bool) -> TypingMemory:
    """Return the memory of a typing context, for functions that are inlined or not: numba compiles
    its own functions with the options of those that call them.
    """
    key = context, inline
    if key not in _memories:
        _memories[key] = TypingMemory(context)
    return _memories[key]
