"""Kernel functions: inner products of examples in feature spaces, one per file."""

from collections.abc import Callable
from functools import partial

from stepless.arguments import as_float
from stepless.kernels.gaussian import Gaussian
from stepless.kernels.kernel import Kernel
from stepless.kernels.linear_kernel import LinearKernel
from stepless.kernels.polynomial import Polynomial
from stepless.registry import named


def _polynomial(gamma: float, degree: float = 3, offset: float = 1.0) -> Polynomial:
    if not float(degree).is_integer():
        raise ValueError(f"degree must be a whole number, not {degree:g}")
    return Polynomial(int(degree), gamma, offset)


# From gamma, and further numbers if there are any, to the kernel.
KERNELS: dict[str, Callable[..., Kernel]] = {
    "gaussian": Gaussian,
    "polynomial": _polynomial,
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


def refuse_gamma(kernel: object, gamma: object) -> None:
    """Refuse a kernel that is neither a Kernel nor a name, and a gamma that it has no use for."""
    if not isinstance(kernel, (Kernel, str)):
        raise TypeError(f"kernel must be a name or a Kernel, not {type(kernel).__name__}")
    if gamma is None:
        return
    if isinstance(kernel, Kernel):
        raise ValueError(f"{kernel} has its own parameters; leave gamma out")
    if kernel.strip() == "linear":
        raise ValueError("kernel 'linear' has no gamma: leave gamma out")
    as_float("gamma", gamma)


__all__ = [
    "KERNELS",
    "Gaussian",
    "Kernel",
    "LinearKernel",
    "Polynomial",
    "kernel_of",
    "refuse_gamma",
]
