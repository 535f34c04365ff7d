"""Gradients on the page, in a real browser."""

from __future__ import annotations

import pytest

from autoinit.measurement import Measurement, Row
from tests.in_browser import needs_browser
from tests.report.shown_page import Open, checked, column, made_plan, sort, with_gradients

needs_browser()


def test_gradients_have_a_figure_and_columns(show: Open) -> None:
    plan = with_gradients(made_plan(4))
    seconds = {p.name: 1.21 * p.gradient for p in plan.parameters}
    real = Measurement(plan, [Row(t, t.mean, t.tensor_variance) for t in plan.tensors], seconds)
    page = show(plan, default=checked(with_gradients(made_plan(4), 0.001)), measured=real)
    assert "median |g|/|w| of the weights 6.000" in page.inner_text("#gradients-told")
    panels = page.evaluate("document.getElementById('gradients').chart.panels.map(p => p.series.at(-1).values)")
    assert panels[0] == pytest.approx([0.125, 0.25, 0.5, 1.0])
    assert panels[1] == pytest.approx([1.1 * 16 * 0.5**k for k in (3, 2, 1, 0)])  # measured over |w| = 1/8
    page.click('#direction [data-value="backward"]')
    assert column(page, "gradient") == ["0.125", "0.250", "0.500", "1.000"]
    assert column(page, "its default")[-2:] == ["1.00e-3", "1.000"]
    assert column(page, "|g|") == ["0.250", "0.500", "1.000", "2.000"]
    assert column(page, "measured |g|")[-1] == "2.200" and column(page, "|g|/|w|")[-1] == "16.000"
    assert column(page, "chi")[0] == "0.900" and column(page, "its verdict") == ["ok"] * 4
    sort(page, "|g|")
    sort(page, "|g|")
    assert column(page, "|g|")[0] == "2.000"
    for home, words in (("#gradients-words", ("gradient", "median")), ("#table-words", ("chi", "extremes only"))):
        page.locator(f"{home} details.words summary").press("Enter")
        assert all(word in page.inner_text(f"{home} details.words dl") for word in words)
    page.click('#direction [data-value="forward"]')
    assert column(page, "variance")[0] == "1.000"


def test_the_first_bad_gradient_is_told(show: Open) -> None:
    page = show(checked(with_gradients(made_plan(6), 0.01)))
    told = page.inner_text("#gradients-told")
    assert "First bad gradient on the way back: stages.0.2.linear.weight" in told and "vanishing" in told


def test_without_gradients_there_is_nothing_of_them(show: Open) -> None:
    page = show(made_plan(3))
    assert page.is_hidden("#gradients-part") and page.is_hidden("#direction")


@pytest.mark.parametrize("width", [1280, 390])
def test_gradients_are_not_cut_off(show: Open, width: int) -> None:
    plan = with_gradients(made_plan(12))
    real = Measurement(plan, [Row(t, t.mean, t.tensor_variance) for t in plan.tensors],
                       {p.name: p.gradient for p in plan.parameters})  # fmt: skip
    page = show(plan, size=(width, 900), default=checked(with_gradients(made_plan(12))), measured=real)
    page.click('#direction [data-value="backward"]')
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    hidden = page.eval_on_selector("#table", "box => box.scrollWidth - box.clientWidth")
    heads = page.eval_on_selector_all("#table th", "all => all.filter(h => h.scrollWidth > h.clientWidth).length")
    assert (hidden <= 0 and heads == 0) or width < 1280  # a narrow table scrolls in its box
    wide = page.eval_on_selector_all("svg", "all => all.map(s => s.getBoundingClientRect().right)")
    assert max(wide) <= width
