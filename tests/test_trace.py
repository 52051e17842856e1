"""Events and traces."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

from stepless.trace import Event, Trace, relative


def _event(passes=1, objective=0.5, lower_bound=0.4, seconds=0.25):
    return Event(passes, 100 * passes, seconds, objective, lower_bound, 1.5, 7)


@pytest.mark.parametrize(
    ("objective", "lower_bound", "gap", "rel_gap"),
    [
        (0.5, 0.4, 0.1, 0.2),
        (0.5, 0.5, 0.0, 0.0),
        (0.5, 0.6, 0.0, 0.0),  # rounding may lift a bound
        (0.0, 0.0, 0.0, 0.0),
        (0.5, -math.inf, math.inf, math.inf),
        (math.inf, 0.0, math.inf, math.inf),
        (0.0, -1.0, 1.0, math.inf),
        (-2.0, -3.0, 1.0, 0.5),
    ],
)
def test_gaps(objective, lower_bound, gap, rel_gap):
    event = _event(objective=objective, lower_bound=lower_bound)
    assert event.gap == pytest.approx(gap)
    assert event.rel_gap == pytest.approx(rel_gap)


def test_an_unknown_objective_is_no_small_gap():
    assert not _event(objective=math.nan).rel_gap <= 1e9
    assert not relative(math.nan, 1.0) <= 1e9


def test_an_event_goes_to_json():
    assert json.loads(json.dumps(_event().as_dict())) == {
        "passes": 1,
        "examples": 100,
        "seconds": 0.25,
        "objective": 0.5,
        "lower_bound": 0.4,
        "norm": 1.5,
        "nonzeros": 7,
        "solver": "",
        "gap": pytest.approx(0.1),
        "rel_gap": pytest.approx(0.2),
    }


def test_events_cannot_be_changed():
    with pytest.raises(AttributeError):
        _event().objective = 0.0


def test_a_trace_is_a_sequence_with_columns():
    trace = Trace()
    assert len(trace) == 0
    assert trace.objective.size == 0
    for passes in (1, 2, 3):
        trace.append(_event(passes, objective=1.0 / passes, lower_bound=0.1))
    assert len(trace) == 3
    assert trace[-1].passes == 3
    assert [event.passes for event in trace] == [1, 2, 3]
    np.testing.assert_array_equal(trace.passes, [1, 2, 3])
    np.testing.assert_allclose(trace.gap, [0.9, 0.4, 1 / 3 - 0.1])
    np.testing.assert_allclose(trace.rel_gap, [0.9, 0.8, 0.7])
    assert trace[1] in trace


def test_a_column_that_is_none_is_named():
    with pytest.raises(AttributeError, match="no column 'loss'; it has passes, examples"):
        _ = Trace().loss


def test_a_trace_is_its_own():
    events = [_event()]
    Trace(events).append(_event(2))
    assert len(events) == 1


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_traces_are_copied_and_pickled(twin):
    trace = Trace([_event(1), _event(2)])
    assert list(twin(trace)) == list(trace)
    np.testing.assert_array_equal(twin(trace).passes, [1, 2])


def test_repr():
    assert repr(Trace()) == "Trace(no events)"
    assert repr(Trace([_event(3)])) == "Trace(3 passes, 0.25 s, objective 0.5, relative gap 0.2)"


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert Trace([_event(1), _event(2, seconds=0.5)]).plot(axes) is axes
    objective, bound = axes.get_lines()
    np.testing.assert_array_equal(objective.get_xydata(), [[0.25, 0.5], [0.5, 0.5]])
    np.testing.assert_array_equal(bound.get_ydata(), [0.4, 0.4])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "objective",
        "lower bound",
    ]
