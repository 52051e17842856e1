"""All benchmarks, one after the other; of the grid and the race, short ones."""

from benchmarks import (
    auto,
    dlf_table1,
    epochs,
    mah_emgd,
    qp,
    race,
    read_svmlight,
    small_penalties,
    startup,
    streams,
    threads,
)

SHORT = ["--tasks=hinge,logistic", "--sets=a9a,w8a", "--lambdas=1e-5", "--only=LIBLINEAR,Snap ML"]

for benchmark in (
    startup,
    read_svmlight,
    epochs,
    small_penalties,
    threads,
    qp,
    dlf_table1,
    mah_emgd,
    streams,
):
    benchmark.main()
auto.main(sets=("a9a", "w8a", "imdb"), strengths=(1e-4, 1e-6), gaps=(1e-3,))
race.main(SHORT)
