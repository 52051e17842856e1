"""Features that papers derive from the sets: one file for each."""

from benchmarks.features.adult_products import adult_products
from benchmarks.features.imdb_bigrams import imdb_bigrams
from benchmarks.features.mnist_kernel import mnist_kernel

__all__ = ["adult_products", "imdb_bigrams", "mnist_kernel"]
