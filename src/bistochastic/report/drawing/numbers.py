"""Numbers as people read them."""

import math

__all__ = ["brief", "counted", "decimal", "epsilon", "share", "sides"]

UNITS = ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))  # from where, in what, by which letter


def share(value: float) -> str:
    """A share in percent, with as many digits as say something.

    >>> share(0.25), share(0.0213), share(0.06), share(0.00004), share(1)
    ('25%', '2.1%', '6%', '0.004%', '100%')
    """
    percent = 100 * value
    if percent == 0 or abs(percent) >= 99.95:
        return f"{percent:.0f}%"
    decimals = 0 if 10 <= abs(percent) < 99 else 1
    if abs(percent) < 0.1:
        decimals = min(9, 1 - math.floor(math.log10(abs(percent))) - 1)
    told = f"{percent:.{decimals}f}"
    return (told.rstrip("0").rstrip(".") if "." in told else told) + "%"


def decimal(value: float) -> str:
    """Three digits that say most.

    >>> decimal(0.5), decimal(2.876), decimal(1234.5), decimal(float("inf"))
    ('0.5', '2.88', '1,234', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}".replace("-", "−")


def brief(value: float) -> str:
    """A round number as it fits beside a bar.

    >>> brief(2.5), brief(1500), brief(12500), brief(-2500000)
    ('2.5', '1,500', '12.5k', '−2.5M')
    """
    size = abs(value)
    unit, letter = next((u[1:] for u in UNITS if size >= u[0]), (1.0, ""))
    told = f"{value / unit:,.6g}" if letter or size < 1000 else f"{value:,.0f}"
    return told.replace("-", "−") + letter


def epsilon(value: float) -> str:
    """An epsilon, or that there is none.

    >>> epsilon(1.5), epsilon(float("inf"))
    ('1.5', '∞ (no limit)')
    """
    return "∞ (no limit)" if math.isinf(value) else decimal(value)


def counted(number: int) -> str:
    """A whole number with its thousands apart.

    >>> counted(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def sides(bits: float) -> str:
    """Bits as the sides of a fair die that is as uncertain.

    >>> sides(1), sides(0)
    ('2.0', '1.0')
    """
    return f"{2**bits:.1f}" if bits < 20 else f"{2**bits:,.0f}"
