"""How kernels are compiled."""

# Sums may be reordered and fused, so that they use the processor's vectors; infinities and NaN keep
# their meaning, because certificates and checks rely on it.
FAST = {"reassoc", "contract", "arcp", "nsz"}
