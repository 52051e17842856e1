"""All benchmarks, one after the other; of the race, a short one."""

from benchmarks import auto, dlf_table1, epochs, qp, race, read_svmlight, small_penalties, startup

SHORT = ["--tasks=hinge,logistic", "--sets=a9a,w8a", "--lambdas=1e-5", "--only=LIBLINEAR,Snap ML"]

for benchmark in (startup, read_svmlight, epochs, small_penalties, auto, qp, dlf_table1):
    benchmark.main()
race.main(SHORT)
