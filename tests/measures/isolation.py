"""Root isolation with 60 digits, by Rolle: an oracle that shares nothing with the package.

f(α) = Σ c_j x_j^α divided by its first power has one term less once it is differentiated; between
two neighbouring roots of that derivative f has one root at most. So all roots of sums of few terms
are found from those of shorter sums, each by bisection between points of opposite sign.
"""

from fractions import Fraction
from itertools import pairwise

import mpmath

ZERO = Fraction(1e-8)
FAR = 10**4  # beyond every root
NEXT = mpmath.mpf(10) ** -18  # to a root that is known exactly
TOUCHING = mpmath.mpf(10) ** -45


def difference(a, b, zero=ZERO):
    """Coefficients and values of what is left of two lists of distances."""
    a, b = ([Fraction(x) if x else zero for x in told] for told in (a, b))
    values = sorted({*a, *b})
    signed = [len(b) * a.count(x) - len(a) * b.count(x) for x in values]
    kept = [j for j, c in enumerate(signed) if c]
    return [signed[j] for j in kept], [values[j] for j in kept]


def roots(coefficients, logs):
    """All real roots of Σ c e^(αl), in order, logarithms increasing, those that touch twice."""
    if len(coefficients) < 2:
        return []
    steps = [log - logs[0] for log in logs]
    inner = roots([c * s for c, s in zip(coefficients[1:], steps[1:], strict=True)], logs[1:])

    def f(alpha):
        return mpmath.fsum(
            c * mpmath.exp(alpha * s) for c, s in zip(coefficients, steps, strict=True)
        )

    size = sum(map(abs, coefficients))
    far_down = -1 - mpmath.log(size / abs(coefficients[0])) / steps[1]
    far_up = 1 + mpmath.log(size / abs(coefficients[-1])) / (steps[-1] - steps[-2])
    places = [far_down, *inner, far_up]  # beyond, the first or the last term outweighs all
    found = []
    for low, high in pairwise(places):
        at_low, at_high = f(low), f(high)
        if low != far_down and abs(at_low) < TOUCHING * size:
            found.append(low)
        elif high != far_up and abs(at_high) < TOUCHING * size:
            continue  # the next stretch begins with it
        elif at_low * at_high < 0:
            found.append(bisected(f, low, high, at_low))
    return found


def bisected(f, low, high, at_low):
    """A root between points of opposite sign, to 30 digits."""
    for _ in range(40):
        middle = (low + high) / 2
        at_middle = f(middle)
        if at_middle * at_low > 0:
            low, at_low = middle, at_middle
        else:
            high = middle
    return mpmath.findroot(f, (low, high), solver="anderson", tol=1e-100, verify=False)


def changes(a, b, side):
    """The verdict, where the better one changes, and where the curves touch, to 20 digits."""
    zero = ZERO if side == "protection" else Fraction(0)
    with mpmath.workdps(60):
        coefficients, values = difference(a, b, zero)
        if not coefficients:
            return "equal", [], []
        if values[0] == 0:
            coefficients, values = coefficients[1:], values[1:]
        logs = [mpmath.log(x.numerator) - mpmath.log(x.denominator) for x in values]
        found = roots(coefficients, logs)
        better = sign(sum(c * x for c, x in zip(coefficients, values, strict=True)))
        if side == "protection":
            inside = [root for root in found if root < 1 - NEXT]
            places = [mpmath.mpf(-FAR), *inside, mpmath.mpf(1)]
        else:
            inside = [root for root in found if root > 1 + NEXT]
            places, better = [mpmath.mpf(1), *inside, mpmath.mpf(FAR)], -better
        seen = []
        for low, high in pairwise(places):
            middle = (low + high) / 2
            f = mpmath.fsum(
                c * mpmath.exp(middle * (log - logs[0]))
                for c, log in zip(coefficients, logs, strict=True)
            )
            seen.append(sign(f / middle) if side == "protection" else -sign(f))
        crossings = [r for r, s, t in zip(inside, seen, seen[1:], strict=False) if s != t]
        touches = [r for r, s, t in zip(inside, seen, seen[1:], strict=False) if s == t]
        if better and better != seen[-1 if side == "protection" else 0]:
            crossings.append(mpmath.mpf(1))  # between the last place looked at and 1
    touches = [float(root) for root in touches if abs(root) > NEXT]  # 0 is a root of every f
    verdict = "neither" if crossings else "first" if seen[0] > 0 else "second"
    return verdict, sorted(float(root) for root in crossings), touches


def sign(number):
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)
