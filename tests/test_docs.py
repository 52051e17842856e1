import re

from benchmarks.game_pictures import PAGE, draw


def test_the_page_beyond_sums_runs_and_every_run_is_certified(capsys):
    page = (PAGE.parent / "beyond_sums.md").read_text(encoding="utf-8")
    scope = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), scope)
    models = [scope[name] for name in ("clf", "ranker", "tagger", "folding", "normal")]
    assert [model.stopped_by_ for model in models] == ["gap"] * 5
    assert scope["result"].stopped_by == "gap"
    assert "((((....))))" in capsys.readouterr().out


def test_the_page_of_games_runs_and_draws_the_pictures_that_it_shows(tmp_path, capsys):
    drawn = draw(tmp_path)
    assert drawn == ["hedge.png", "late_push.png", "portfolio.png"]
    assert all((tmp_path / name).stat().st_size > 10_000 for name in drawn)
    assert all((PAGE.parent / "pictures" / name).exists() for name in drawn)
    told = capsys.readouterr().out
    assert "NOT ≤" not in told
    assert "regret 2.55172 ≤ 3.06753 by MAH Theorem 2.12" in told


def test_the_page_of_proofs_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (PAGE.parent / "proofs.md").read_text(encoding="utf-8")
    scope = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), scope)
    assert capsys.readouterr().out.startswith("what the model claims holds: ")
    assert scope["again"] == scope["found"]


def test_the_page_of_what_a_gap_settles_runs():
    page = (PAGE.parent / "settled.md").read_text(encoding="utf-8")
    scope = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), scope)
    assert scope["clf"].settled(scope["X"]).mean() > 0.5
    assert scope["lasso"].certain_zeros_.any()
