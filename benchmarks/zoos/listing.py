"""For mending the library: the tensors of one model that are off, in the order of execution."""

from __future__ import annotations

from typing import Any

from ..tables import Table, number


def listing(record: dict[str, Any]) -> str:
    """What -v prints about a record."""
    lines = [f"{record['name']} ({record.get('family', '?')}): {record['outcome']}, {record.get('seconds', 0)} s"]
    if "error" in record:
        lines += [record["error"], record.get("traceback", "")]
    plan = record.get("plan")
    if plan:
        lines.append(
            f"{record.get('parameters', 0):,} parameters, inputs {record.get('inputs')}: {plan['layers']} layers, "
            f"{plan['tensors']} tensors, planned in {plan['seconds']} s, {plan['MB']} MB"
        )
        lines += [f"{kind}: {plan[kind]}" for kind in ("simulated", "passed") if plan[kind]]
        lines += [f"warning: {text}" for text in plan["warnings"]]
        if plan["not_reached"]:
            lines.append(f"{plan['not_reached']} parameters not reached: {', '.join(plan['unreached'])}")
    if "fidelity" in record:
        lines += _fidelity(record["fidelity"])
    if "default" in record:
        lines.append(f"as it initializes itself: {record['default']}")
    return "\n".join(lines) + "\n"


def _fidelity(found: dict[str, Any]) -> list[str]:
    kind = "without normalisation" if found["norm_free"] else "normalised"
    lines = [f"{kind}, {found['seeds']} seeds; layers not met: {found['unseen']}, without target: {found['no_target']}"]
    for what in ("layers", "others"):
        part = found[what]
        lines.append(f"{what}: {part['n']}, within 1.25×: {part['1.25']}, within 2×: {part['2']}")
    for row in found["outputs"]:
        lines.append(f"output {row['module']} {row['op']}: predicted {row['predicted']}, measured {row['measured']}")
    rows = found.get("listed", found["worst"])
    title = f"{found.get('off', len(rows))} tensors off by more than 1.25×, the first {len(rows)}"
    heads = ["index", "module", "op", "mean predicted", "measured", "variance predicted", "measured", "ν", "ratio"]
    table = Table(title, heads)
    for row in rows:
        values = [*row["mean"], row["predicted"], row["measured"], row["target"], row["ratio"]]
        table.add(row["index"], row["module"], row["op"], *("-" if v is None else number(v) for v in values))
    return [*lines, "", table.text()]
