"""No test here depends on what ran before it."""

from tests.seeded import same_random_numbers

__all__ = ["same_random_numbers"]
