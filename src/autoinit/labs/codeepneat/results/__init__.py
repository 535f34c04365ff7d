"""What searches have come to: the course of each, and arms against each other."""

from .comparison import Comparison, Contrast, Effect, compare
from .course import Course, Shown, Stage
from .folders import courses, folders_in

__all__ = ["Comparison", "Contrast", "Course", "Effect", "Shown", "Stage", "compare", "courses", "folders_in"]
