"""How Thatch compiles its inner loops with Numba, caches them on disk, and reaches arrays from them."""
