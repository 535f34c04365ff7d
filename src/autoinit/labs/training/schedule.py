"""The learning rate as a function of how much of the run has passed."""

from __future__ import annotations

from math import cos, pi

from .recipe import Recipe

ROUNDING = 1e-9
"""200/350 of 350 epochs must count as 200 epochs whatever the last digit says."""


def learning_rate(recipe: Recipe, time: float) -> float:
    """The rate after the fraction `time` of the run, from 0 to 1.

    With warm-up w, peak η and s = (time − w)/(1 − w): a line from `warmup_from` to η until w, then
    constant η; steps η·factor^(milestones passed); cosine η' + (η − η')(1 + cos πs)/2; triangle η' + (η − η')(1 − s),
    where η' is `final_rate`.
    """
    peak, last = recipe.learning_rate, recipe.final_rate
    if time < recipe.warmup - ROUNDING:
        return recipe.warmup_from + (peak - recipe.warmup_from) * time / recipe.warmup
    if recipe.schedule == "constant":
        return peak
    if recipe.schedule == "steps":
        return peak * recipe.factor ** sum(time >= m - ROUNDING for m in recipe.milestones)
    rest = 1 - recipe.warmup
    passed = min(1.0, max(0.0, (time - recipe.warmup) / rest)) if rest > 0 else 1.0
    share = (1 + cos(pi * passed)) / 2 if recipe.schedule == "cosine" else 1 - passed
    return last + (peak - last) * share


def rate_at_step(recipe: Recipe, step: int, steps: int, steps_per_epoch: int) -> float:
    """The rate of the step with this number (from 0) of `steps`; it changes at the recipe's pace."""
    if recipe.pace == "epoch":
        step -= step % steps_per_epoch
    return learning_rate(recipe, step / steps)
