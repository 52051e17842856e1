"""Who reads a stream: one pass over examples in their order, each predicted before it is learned.

Every function takes examples (dense or CSR), labels ±1, and settings of its own, and returns a
`Progress`. What brings the rows into a peer's own form is not timed.
"""

from benchmarks.peers.streams.progress import Progress

__all__ = ["Progress"]
