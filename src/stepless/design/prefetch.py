"""A software prefetch for compiled loops.

The processor does not foresee rows that are visited in random order; prefetching one a few rows
ahead hides the memory's latency.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def prefetch(typingctx: Any, array: Any, position: Any) -> Any:
    """Prefetch the cache line of an array's flat `position`; only a hint, never a fault."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, word, word, word]),
            "llvm.prefetch.p0",
        )
        address = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(function, [address, word(0), word(3), word(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, position), codegen
