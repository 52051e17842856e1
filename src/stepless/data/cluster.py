"""Rows in the memories of a Dask cluster's workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar, NamedTuple, overload
from uuid import uuid4

import cloudpickle
from dask.task_spec import Task, TaskRef
from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError

from stepless.arrays import Array
from stepless.cached import cached_property
from stepless.compiled.light import light
from stepless.data import cluster_tasks as tasks
from stepless.data.block import Block
from stepless.data.cluster_tasks import Argument, Call, Filled, Held, Hollow, Shared
from stepless.data.column import Column, blended
from stepless.data.cuts import NEIGHBOURS
from stepless.data.errors import DataError
from stepless.data.home import Home, Round

_HEAVY = 1 << 14  # bytes that travel once per round, not with every task
_PIECE = 1 << 22  # bytes of a message; distributed warns of long ones


class Piece(NamedTuple):
    """A value in a worker's memory: a task's result, or an item of it."""

    future: Future[Any]
    item: int | None = None


class ClusterColumn(Column):
    """A column whose parts are with the workers, or are yet to be made there."""

    __slots__ = ("home",)

    def __init__(self, home: Cluster, parts: Sequence[Any]) -> None:
        super().__init__(parts)
        self.home = home

    @property
    def whole(self) -> Array:
        return self.home.gather_column(self)

    def blend(self, shares: Sequence[float], others: Sequence[Column]) -> Column:
        given = _blend, (tuple(shares), self, *others)
        blocks = self.home.bind(self.home.empty(), self.home.empty())
        return self.home.kept(self.home.run(blocks, Round(*given, keeps=True), 1)[0])


class Cluster(Home):
    """Rows in blocks, each in the memory of some worker; a lost one is computed again.

    A round is one task per block. It is pure: it returns copies of the columns that its loop
    writes. Sums are added up by tasks, as a tree in the order of the blocks, so that the bits are
    those of one process with the same cuts. What a worker has lost is recomputed by Dask, from the
    tasks that led to it.

    Parameters
    ----------
    client
        The client of the cluster.
    designs
        A design per block.
    sizes
        The number of rows of each block.
    d, nnz
        Number of features, and of entries in all.
    """

    here: ClassVar[bool] = False
    probes = 16

    def __init__(
        self, client: Client, designs: Sequence[Piece], sizes: Sequence[int], d: int, nnz: int
    ) -> None:
        self._client, self._designs = client, designs
        self.cuts = list(pairwise(accumulate(sizes, initial=0)))
        self.shape, self.nnz = (sum(sizes), d), nnz

    def bind(self, y: Column, s: Column) -> list[Any]:
        return list(zip(self._designs, self._here(y).parts, self._here(s).parts, strict=True))

    def column(self, values: Array) -> Column:
        return self._here(Column([values[lo:hi] for lo, hi in self.cuts]))

    def empty(self, before: tuple[int, ...] = (), after: tuple[int, ...] = ()) -> Column:
        return ClusterColumn(self, [Hollow((*before, hi - lo, *after)) for lo, hi in self.cuts])

    def constant(self, value: float) -> Column:
        return ClusterColumn(self, [Filled(hi - lo, value) for lo, hi in self.cuts])

    def kept(self, parts: Sequence[Any]) -> Column:
        return ClusterColumn(self, parts)

    def _here(self, column: Column) -> Column:
        """Return a column whose parts are with the workers."""
        if isinstance(column, ClusterColumn):
            return column
        return ClusterColumn(self, [Piece(send(self._client, part)) for part in column.parts])

    def gather_column(self, column: Column) -> Array:
        """Return the numbers of all blocks."""
        blocks = self.bind(self.empty(), self.empty())
        return Column(self.run(blocks, Round(_itself, (column,)), 1)[0]).whole

    def run(self, blocks: list[Any], round_: Round, threads: int) -> tuple[Any, Array | None]:
        written = [self._here(column) for column in round_.writes]
        plain = tuple(given for given in round_.shared if not isinstance(given, Column))
        number = iter(range(len(plain)))
        shared = [
            self._here(given) if isinstance(given, Column) else Shared(next(number))
            for given in round_.shared
        ]
        graph = Graph(self._client, getattr(round_.loop, "__name__", "loop"))
        call = graph.value(Call(round_.loop, plain, len(written), round_.shape))
        outcomes = []
        for k, ((lo, hi), (X, y, s)) in enumerate(zip(self.cuts, blocks, strict=True)):
            refs: list[TaskRef] = []
            given = [X if round_.reads_rows else Hollow((hi - lo, 0)), y, s]
            for one in (*written, *shared):
                given.append(one.parts[k] if isinstance(one, Column) else one)
            arguments = tuple(_argument(one, refs) for one in given)
            outcomes.append(graph.add(tasks.perform, call, arguments, *refs))
        return self._results(graph, outcomes, round_)

    def _results(
        self, graph: Graph, outcomes: list[TaskRef], round_: Round
    ) -> tuple[Any, Array | None]:
        """Submit a round; wait for what the driver needs of it, and keep the rest."""
        if round_.keeps:
            return [Piece(future) for future in graph.submit(outcomes)], None
        written, results = (outcomes if round_.writes else []), outcomes
        if round_.shape is not None:
            if written:
                results = [graph.add(tasks.result_and_sum, outcome) for outcome in outcomes]
            results = [_tree(graph, round_.join, results)]
        elif written:
            results = [graph.add(tasks.item, outcome, 0) for outcome in outcomes]
        futures = graph.submit([*written, *results])
        for number, column in enumerate(round_.writes):
            column.parts = [Piece(future, 2 + number) for future in futures[: len(written)]]
        found = _Results(self, futures[len(written) :])
        if round_.shape is not None:
            [(each, total)] = found
            return each, total
        return (found if written else list(found)), None

    def wait(self, futures: Sequence[Future[Any]]) -> list[Any]:
        """Return the results of a round."""
        self.rounds += 1
        return gathered(self._client, futures)


class _Results(Sequence[Any]):
    """Results that nobody may ask for; the first who does waits for them."""

    def __init__(self, home: Cluster, futures: Sequence[Future[Any]]) -> None:
        self._home, self._futures = home, futures

    @cached_property
    def _found(self) -> list[Any]:
        return self._home.wait(self._futures)

    @overload
    def __getitem__(self, k: int) -> Any: ...
    @overload
    def __getitem__(self, k: slice) -> list[Any]: ...
    def __getitem__(self, k: int | slice) -> Any:
        return self._found[k]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._futures)


class Graph:
    """Tasks that are sent to a cluster in one message, with keys that no other task has."""

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, f"{name.strip('_')}-{uuid4().hex}"
        self._tasks: dict[Any, Task] = {}
        self._needed: list[
            Future[Any]
        ] = []  # which the cluster would forget before it knows the tasks

    def add(self, function: Callable[..., Any], *args: Any) -> TaskRef:
        """Add a task; its arguments may refer to others."""
        key = self._name, len(self._tasks)
        self._tasks[key] = Task(key, function, *args)
        return TaskRef(key)

    def value(self, value: Any) -> bytes | TaskRef:
        """Return what to give tasks for a value: its pickle, or a task that has a large one."""
        content: bytes = cloudpickle.dumps(value)
        return content if len(content) <= _HEAVY else self.unpickled(content)

    def unpickled(self, content: bytes) -> TaskRef:
        """Add a task that has the value of a pickle, however long."""
        for first in range(0, len(content), _PIECE):
            piece = Graph(self._client, "piece")
            ref = piece.add(tasks.kept, content[first : first + _PIECE])
            self._needed += piece.submit([ref])
        return self.add(tasks.unpickled, *(TaskRef(piece.key) for piece in self._needed))

    def submit(self, wanted: Sequence[TaskRef]) -> list[Future[Any]]:
        """Send the tasks; return the futures of those that are wanted."""
        keys = [ref.key for ref in wanted]
        found: list[Future[Any]] = self._client.get(self._tasks, keys, sync=False)
        return found


def send(client: Client, value: Any) -> Future[Any]:
    """Return a value that the cluster holds; its task has it, if a worker is lost."""
    graph = Graph(client, "value")
    return graph.submit([graph.unpickled(cloudpickle.dumps(value))])[0]


def each(
    client: Client, function: Callable[..., Any], futures: Sequence[Future[Any]], *given: Any
) -> list[Future[Any]]:
    """Call a function of a module with each result, and with a pickle of what else is given."""
    graph = Graph(client, function.__name__)
    refs = [graph.add(function, TaskRef(future.key), *given) for future in futures]
    return graph.submit(refs)


def gathered(client: Client, futures: Sequence[Future[Any]]) -> list[Any]:
    """Wait for results; say in a sentence what was lost, if it cannot be computed again."""
    try:
        found: list[Any] = client.gather(list(futures))
    except FutureCancelledError as lost:
        if lost.reason.startswith("scheduler"):
            raise DataError(
                f"the cluster is gone ({lost.reason}): start it and fit again"
            ) from None
        raise DataError(
            f"workers that are gone held data that cannot be computed again ({lost.reason}): read "
            "the examples from files in place of scattering them, and fit again"
        ) from None
    except KilledWorker as killed:
        raise DataError(
            f"workers died {killed.allowed_failures + 1} times at a task of {killed.task!r}: give "
            "them more memory, or the examples in smaller chunks"
        ) from None
    return found


def _argument(given: Any, refs: list[TaskRef]) -> Argument:
    """Return what a task is told of an argument; note what it needs of other tasks."""
    if not isinstance(given, Piece):
        argument: Argument = given
        return argument
    refs.append(TaskRef(given.future.key))
    return Held(len(refs) - 1, given.item)


def _tree(graph: Graph, join: Callable[[list[Array]], Array], parts: list[TaskRef]) -> TaskRef:
    """Add the tasks of a `TreeSum`; return the last."""
    while len(parts) > 1:
        groups = [parts[k : k + NEIGHBOURS] for k in range(0, len(parts), NEIGHBOURS)]
        parts = [
            graph.add(tasks.merge, join, *group) if len(group) > 1 else group[0] for group in groups
        ]
    return parts[0]


@light
def _blend(block: Block, shares: tuple[float, ...], *columns: Array) -> Array:
    return blended(shares, columns)


@light
def _itself(block: Block, column: Array) -> Array:
    return column
