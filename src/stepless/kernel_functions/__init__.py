"""Kernel functions: inner products of examples in spaces of features, one a file."""

from collections.abc import Callable
from functools import partial

from stepless.kernel_functions.gaussian import Gaussian
from stepless.kernel_functions.kernel import Kernel
from stepless.kernel_functions.linear_kernel import LinearKernel
from stepless.kernel_functions.polynomial import Polynomial
from stepless.registry import named

# From gamma, and further numbers if there are any, to the kernel.
KERNELS: dict[str, Callable[..., Kernel]] = {
    "gaussian": Gaussian,
    "polynomial": lambda gamma, degree=3, offset=1.0: Polynomial(degree, gamma, offset),
    "linear": lambda gamma: LinearKernel(),
}


def kernel_of(name: str, gamma: float) -> Kernel:
    """Return the kernel that a name, with further numbers in brackets if any, stands for.

    Examples
    --------
    >>> kernel_of("polynomial(2)", 0.5)
    Polynomial(degree=2, gamma=0.5, offset=1.0)
    """
    kinds = {known: partial(kind, gamma) for known, kind in KERNELS.items()}
    return named("kernel", name, kinds)


__all__ = ["KERNELS", "Gaussian", "Kernel", "LinearKernel", "Polynomial", "kernel_of"]
