import numpy as np
import pytest

from stepless.structured.rna import Folding, accuracy, dot_bracket, mates, read_dot_brackets


def test_text_and_mates_are_one_another():
    for structure in ("", "...", "((..)).(...)", "(((())))"):
        assert dot_bracket(mates(structure)) == structure


def test_a_file_is_read(tmp_path):
    path = tmp_path / "two.dbn"
    path.write_text(">first \nGGAAACC\n((...))\n\n> second\nacgu\n.... (0.0)\n")
    records = read_dot_brackets(path)
    assert [record.name for record in records] == ["first", "second"]
    assert records[1].structure == "...."
    assert read_dot_brackets(path) == records


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("GGG\n...\n", "line 1: a record begins with '>' and its name, not 'GGG'"),
        (">a\nGGG\n", "line 1: the last record lacks its bases or its brackets"),
        (">a\nGGG\n....\n", "line 1: the structure has 4 signs, but there are 3 bases"),
        (">a\nG\n.\n>b\nGXG\n...\n", "line 4: base 2 of the sequence is 'X'"),
        (">a\nGGG\n(..\n", "opens a bracket at base 1 and never closes it"),
        (">a\nGGG\n..)\n", "closes a bracket at base 3 that is not open"),
        (">a\nGGGGGG\n([..)]\n", r"has '\[' at base 2.*pairs that cross others"),
        (">a\nGé\n..\n", "base 2 of the sequence is 'é'"),
    ],
)
def test_bad_files_are_named(tmp_path, text, says):
    path = tmp_path / "bad.dbn"
    path.write_text(text)
    with pytest.raises(ValueError, match=says):
        read_dot_brackets(path)


def test_what_is_no_text_is_named():
    with pytest.raises(ValueError, match="a sequence of bases is text, not 7"):
        Folding().predict(np.zeros(Folding.d), 7)
    with pytest.raises(ValueError, match="a structure is text of dots and brackets, not None"):
        Folding().features("GGG", None)


def test_accuracy_counts_pairs():
    found = accuracy(["((...))...", "(...)"], ["((...))...", "....."])
    assert (found.true, found.said, found.both) == (3, 2, 2)
    assert found.f == pytest.approx(2 / (1 / found.sensitivity + 1 / found.ppv))
    nothing = accuracy(["..."], ["..."])
    assert (nothing.sensitivity, nothing.ppv, nothing.f) == (1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="3 signs, but there are 4 bases"):
        accuracy(["...."], ["..."])
    assert np.array_equal(mates("(.)"), [0, 3, 0, 1, 0])
