"""Plans for pages, and what can be read of a page in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoinit import Plan
from autoinit.core.plan.plan import Note, ParameterPlan, PartPlan, TensorPlan

Open = Callable[..., Any]


def made_plan(blocks: int, growth: float = 1.0, model: str = "Net") -> Plan:
    """`blocks` blocks of linear and relu; the variance changes by `growth` from block to block."""
    tensors, parameters = [], []
    for k in range(blocks):
        variance = growth**k
        weight = f"stages.{k // 50}.{k % 50}.linear.weight"
        place = weight.removesuffix(".weight")
        tensors.append(TensorPlan(2 * k, place, "aten.linear", 1, 0, [8, 64], 0.0, variance, variance, variance,
                                  [0.1, 0.0], weight, 1.0, 64.0, 0.2, mean_in=0.25, variance_in=0.75))  # fmt: skip
        tensors.append(TensorPlan(2 * k + 1, f"{place.removesuffix('.linear')}.relu", "aten.relu", 1, 0, [8, 64],
                                  0.4 * variance**0.5, 0.34 * variance, 0.34 * variance, variance / 2, [0.3, 0.0],
                                  scatter=0.2))  # fmt: skip
        part = PartPlan([64, 64], [64, 1], 0, "random", 0.125)
        parameters.append(ParameterPlan(weight, [64, 64], "set", "weight of linear", [part], 2 * k))
    tensors[1].status = "simulated"
    notes = [Note("simulated", "stages.0.0.relu: relu", "no rule: measured on samples")]
    notes.append(Note("info", "model", "a remark"))
    return Plan(model, "torch", 1.0, "truncated_normal", 0, True, parameters, tensors, notes, [2 * blocks - 1])


def with_gradients(plan: Plan, factor: float = 0.5) -> Plan:
    """The same with gradients that shrink by `factor` from block to block on their way back."""
    layers = plan.weight_layers
    for k, layer in enumerate(reversed(layers)):
        second = factor ** (2 * k)
        layer.gradient, layer.chi = second, 0.9
        plan.tensors[layer.index + 1].gradient = second
        parameter = next(p for p in plan.parameters if p.name == layer.weight)
        parameter.gradient, parameter.second = 4 * second, 1 / 64
    return plan


def checked(plan: Plan) -> Plan:
    plan.checked = True
    for parameter in plan.parameters:
        parameter.parts = []
    return plan


def rows(page: Any) -> list[list[str]]:
    return page.eval_on_selector_all(
        "#table tbody tr[data-tensor]", "rows => rows.map(r => [...r.children].map(c => c.textContent))"
    )


def column(page: Any, head: str) -> list[str]:
    heads = page.eval_on_selector_all("#table th", "heads => heads.map(h => h.dataset.head)")
    return [row[heads.index(head)] for row in rows(page)]


def every(page: Any) -> None:
    """Show all tensors: beside the default a page opens on the weight layers."""
    page.click('#which [data-value="all"]')


def sort(page: Any, head: str) -> None:
    page.click(f'#table th[data-head="{head}"] button')


def seen_range(page: Any) -> list[float]:
    return page.evaluate("document.getElementById('signal').chart.range()")


def place(page: Any, tensor: int) -> list[float]:
    """Where on the screen the upper figure has variance 1 of a tensor."""
    return page.evaluate(
        """(tensor) => {
            const home = document.getElementById("signal");
            home.scrollIntoView();
            const box = home.querySelector("svg").getBoundingClientRect();
            return [box.x + home.chart.x(tensor), box.y + home.chart.panels[0].y(1)];
        }""",
        tensor,
    )


def computing(context: Any, address: str) -> float:
    """Seconds that the browser computes until the figure is drawn, in a page of its own."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address)
    page.wait_for_selector("#signal svg", timeout=60_000)
    page.wait_for_function("performance.getEntriesByName('page').length === 1")
    found = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    page.close()
    return found["TaskDuration"]


def drag(page: Any, begin: float, end: float) -> None:
    """Across the upper figure, from one share of its width to another."""
    page.locator("#signal").scroll_into_view_if_needed()
    area = page.locator("#signal .plane").bounding_box()
    y = area["y"] + area["height"] / 2
    page.mouse.move(area["x"] + begin * area["width"], y)
    page.mouse.down()
    page.mouse.move(area["x"] + end * area["width"], y, steps=4)
    page.mouse.up()
