"""Expected costs (commonality, section 4) where all predicates have the same selectivity and cost 1 (equations 4, 6, 8).

Deviations: the printed forms divide by p − 1 and by p^n. At p = 1, and for small p^n, their limits are taken, and powers
of numbers near 1 by `expm1` and `log1p`: at p = 0.1, n = 20, m = 200 the printed equation 8 gives 0 in doubles, not 222.
"""

from __future__ import annotations

from math import expm1, log1p

from thatch.errors import ParameterError, shown

__all__ = ["cluster", "conjunction", "link_group"]


def conjunction(n: int, p: float) -> float:
    """(p^n − 1) / (p − 1): n predicates that are each true with probability p."""
    _check(p, n=n)
    if p > 0.999:  # the quotient of two small differences
        return float(n) if p == 1 else expm1(n * log1p(p - 1.0)) / (p - 1.0)
    return float((1.0 - p**n) / (1.0 - p))


def cluster(k: int, m: int, n: int, p: float) -> float:
    """Members, m of them, of n predicates each, of which all share k."""
    _check(p, k=k, m=m, n=n)
    if k > n:
        raise ParameterError(f"at most n = {n} shared predicates", shown(k), "k")
    return float(conjunction(k, p) + p**k * m * conjunction(n - k, p))


def link_group(m: int, n: int, p: float) -> float:
    """Members, m of them, of n predicates each, that share none, until one is true."""
    _check(p, m=m, n=n)
    true = p**n
    if true == 1:
        return conjunction(n, p) * min(m, 1)
    tried = -expm1(m * log1p(-true)) / true if true > 0 else float(m)
    return float(conjunction(n, p) * tried)


def _check(p: float, **counts: int) -> None:
    if not 0 <= p <= 1:
        raise ParameterError("a selectivity from 0 to 1", shown(p), "p")
    for name, count in counts.items():
        if count < 0:
            raise ParameterError("a count from 0 on", shown(count), name)
