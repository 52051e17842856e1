"""Loops that call the methods of a term in compiled code, at each of many points."""

from __future__ import annotations

from stepless.jit import compiled


@compiled("z[n] out[2,n]")
def values_and_slopes(loss, out, z, y):
    """Write ℓ and a slope of it at each z."""
    for i in range(z.size):
        out[0, i] = loss.value(z[i], y)
        out[1, i] = loss.slope(z[i], y)


@compiled("a[n] out[n]")
def conjugates(loss, out, a, y):
    """Write ℓ* of each slope."""
    for i in range(a.size):
        out[i] = loss.conjugate(a[i], y)


@compiled("z[n] out[n]")
def curvatures(loss, out, z, y):
    """Write ℓ'' at each z."""
    for i in range(z.size):
        out[i] = loss.curvature(z[i], y)


@compiled("z[n] out[n]")
def implicit_slopes(loss, out, z, y, step):
    """Write the implicit slope at each z."""
    for i in range(z.size):
        out[i] = loss.implicit_slope(z[i], y, step)


@compiled("w[n] out[4,n]")
def of_each_weight(regularizer, w, step, out):
    """Write ω, its prox, its conjugate and the gradient of that, at each number of w."""
    for j in range(w.size):
        out[0, j] = regularizer.value(w[j])
        out[1, j] = regularizer.prox(w[j], step)
        out[2, j] = regularizer.conjugate(w[j])
        out[3, j] = regularizer.conjugate_gradient(w[j])


@compiled("w[_]")
def prox_times(regularizer, w, step, times):
    """Take a weight's prox several times, in place."""
    for j in range(w.size):
        w[j] = regularizer.prox_times(w[j], step, times)


@compiled("w[n,d,K] steps[n,d,K] totals[n]")
def shrink_and_total(regularizer, w, steps, totals):
    """Take the prox of each matrix in place, and write Ω there."""
    for i in range(w.shape[0]):
        regularizer.shrink(w[i], steps[i])
        totals[i] = regularizer.total(w[i])


@compiled("out[_,_]")
def project(domain, out):
    """Project each row, in place."""
    for i in range(out.shape[0]):
        domain.project(out[i])


@compiled("out[n,d] metric[n,d]")
def project_in(domain, out, metric):
    """Project each row in its metric, in place."""
    for i in range(out.shape[0]):
        domain.project_in(out[i], metric[i])


@compiled("given[n,d] out[n,d]")
def vertex(domain, given, out):
    """Write the vertex of each row."""
    for i in range(out.shape[0]):
        domain.vertex(given[i], out[i])


@compiled("w[n,d] excess[n] returned[n] out[n,d]")
def excess_and_outward(domain, w, excess, returned, out):
    """Write the excess of each row, and what `outward` returns and writes there."""
    for i in range(w.shape[0]):
        excess[i] = domain.excess(w[i])
        returned[i] = domain.outward(w[i], out[i])
