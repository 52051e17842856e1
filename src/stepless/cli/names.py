"""Names and numbers that help texts list, kept apart from the modules that define them.

Those modules import numba, for which `--help` must not wait. tests/cli/test_names.py compares all
of this with the registries: a new loss, penalty, domain or metric fails there until it is listed.
"""

CLASS_LOSSES = "hinge, squared_hinge, smoothed_hinge(γ), logistic"
NUMBER_LOSSES = ", ".join(
    [
        "squared",
        "absolute",
        "huber(δ)",
        "epsilon_insensitive(ε)",
        "quantile(τ)",
        "poisson",
    ]
)
RANKING_LOSSES = "pairwise, ndcg, assigned_ndcg, map, mrr"
CHAIN_LOSSES = "crf, hinge"
METRICS = "f1, fbeta(β), roc_auc, precision_at_k, recall_at_k, prbep"
PENALTIES = ", ".join(
    [
        "l2",
        "l1",
        "elasticnet(ρ)",
        "lp(p)",
        "entropy(π)",
        "hyperbolic(β)",
        "l1/l2",
        "l1/linf",
        "none",
    ]
)
CHOSEN_STRENGTHS = "scaled, auto, cv"
DOMAINS = (
    "free, ball(R), l1_ball(R), lp_ball(R,p), box(low,high), nonnegative, simplex(R), psd(R), "
    "psd_cone"
)
MOST_PASSES = 1000  # of a run without a limit
RANKED_DOCUMENTS = 10  # k of NDCG@k, unless it is given
HASH_BITS = 18  # of hashed features, unless they are given
CHUNK_ROWS = 1000  # examples in a chunk of a stream
