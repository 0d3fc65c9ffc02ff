"""A number that is a certified bound says so."""

from typing import final

__all__ = ["AtLeast", "AtMost"]


@final
class AtLeast(float):
    """A float that certainly does not exceed the quantity it stands for.

    >>> AtLeast(2.5)
    AtLeast(2.5)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"AtLeast({float(self)!r})"


@final
class AtMost(float):
    """A float that the quantity it stands for certainly does not exceed.

    >>> AtMost(2.5) + 1
    3.5
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"AtMost({float(self)!r})"
