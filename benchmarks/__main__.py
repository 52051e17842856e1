"""All benchmarks, one after the other."""

from benchmarks import auto, dlf_table1, epochs, qp, read_svmlight, small_penalties, startup

for benchmark in (startup, read_svmlight, epochs, small_penalties, auto, qp, dlf_table1):
    benchmark.main()
