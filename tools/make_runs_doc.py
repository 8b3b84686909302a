#!/usr/bin/python3
"""Writes docs/measured/runs.md, the measured runs, from the output of tools/measure_runs.py.

Usage: make_runs_doc.py [FOLDER] [OUT.md]

The defaults are data/measurements/runs and docs/measured/runs.md. This script measures nothing and
leaves no case out: the page names each case without a measurement.
"""

import json
import math
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure_runs import MIXED, SAVE_PLACES, SEEDS, DEADLINE_SEEDS  # noqa: E402
from run_bench import covers, width  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent

INTRODUCTION = """# Runs: forecast and measured

These runs took place on the emulated cloud of one computer (`stint local`). Its prices are invented.
Compute is *paced-real*: each worker computes real gradients, all-reduces them over the shaped
network and applies them, at the pace of the job's profile. Compute times are therefore correct by
construction. The runs test everything else: start-up, spot interruptions, checkpoints, the network
and the bill.

A figure followed by a range in brackets is a median with its minimum and maximum.

To repeat the measurements, run `tools/measure_runs.py build/release/stint` on an idle computer, then
`tools/make_runs_doc.py`. The raw figures are in `data/measurements/runs`.
"""


def table(titles, rows):
    """A Markdown table with its numbers aligned to the right."""
    lines = ["| " + " | ".join(titles) + " |",
             "|" + "|".join("---" if not place else "---:" for place in range(len(titles))) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def share_interval(count, total):
    """The Wilson 95 % confidence interval of a share."""
    z = 1.96
    share = count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total
                                               + z * z / (4 * total * total))
    return f"{100 * (middle - half):.0f}–{100 * (middle + half):.0f} %"


def counted(count, total):
    """A count with the confidence interval of its share."""
    return f"{count} of {total} (95 % confidence interval: {share_interval(count, total)})"


def spread(values, form="{:.2f}"):
    """The median, with minimum and maximum."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def yes(condition):
    """The cell for a condition."""
    return "yes" if condition else "**no**"


def runs(lines):
    seeded = {name: one for name, one in lines.items() if name.startswith("seed")}
    if not seeded:
        return MISSING
    all_of = list(seeded.values())
    trained = [one for one in all_of if one["state"] == "trained"]
    same = [one["parameters"] for one in trained if "parameters" in one]
    calm = [one["parameters"] for name, one in lines.items() if name.startswith("calm")]
    covered = sum(map(covers, all_of))
    in_time = sum(one["forecast"]["time_s"]["p10"] <= one["time_s"]
                  <= one["forecast"]["time_s"]["p90"] for one in all_of)
    cheaper = sum(one["cost_usd"] < one["forecast"]["cost_usd"]["p10"] for one in all_of)
    text = table(
        ["", "job", "machines", "notice", "checkpoints to", "interruptions", "steps redone", "time",
         "forecast", "bill, USD", "80 % interval", "inside", "parameter difference"],
        [[name, one["job"], one["machines"], one["notice"], one["place"], one["losses"],
          one["redone"], f"{one['time_s']:.0f} s", f"{one['forecast']['time_s']['mean']:.0f} s",
          f"{one['cost_usd']:.5f}", "{p10:.5f}–{p90:.5f}".format(**one["forecast"]["cost_usd"]),
          yes(covers(one)), f"{one['parameters']:.0e}" if "parameters" in one else one["state"]]
         for name, one in seeded.items()])
    ratios = [one["cost_usd"] / one["forecast"]["cost_usd"]["mean"] for one in all_of]
    known = [one["cost_usd"] / one["hindsight"]["cost_usd"]["mean"] for one in all_of
             if "hindsight" in one]
    return text + f"""
- n = {len(all_of)} of {SEEDS}; completed: {counted(len(trained), len(all_of))}.
- The 80 % forecast interval covers the bill in {counted(covered, len(all_of))}. Of the runs outside
  it, {cheaper} were cheaper. The mean width of the interval is
  {statistics.mean(map(width, all_of)):.2f} times the forecast. The interval of the run time covers
  {in_time}.
- The bill is {spread(ratios)} times its forecast, and {spread(known)} times a forecast that knows
  the spot market in advance.
- Spot interruptions per run: {spread([one['losses'] for one in all_of], '{:.0f}')}; steps redone per
  run: {spread([one['redone'] for one in all_of], '{:.0f}')}.
- Parameters: the largest difference from an uninterrupted run on one worker, relative to the
  largest parameter of the tensor, is {max(same, default=float('nan')):.0e} in double precision.
  Uninterrupted runs on three machines, which also sum in a different order, differ by up to
  {max(calm, default=float('nan')):.0e}.
- Difference between the bill and the sum of VM-seconds × price: at most
  {max(abs(one['bill_difference_usd']) for one in all_of):.0e} USD.
"""


def deadline(lines):
    seeded = {name: one for name, one in lines.items() if name.startswith("seed")}
    calm = lines.get("on demand")
    if not seeded or not calm:
        return MISSING
    kept = sum(one["state"] == "trained" and one["time_s"] <= one["deadline_s"]
               for one in seeded.values())
    ratios = [one["cost_usd"] / calm["cost_usd"] for one in seeded.values()]
    text = table(
        ["", "time", "deadline", "met", "bill, USD", "ratio to on-demand only",
         "first on-demand launch", "interruptions"],
        [[name, f"{one['time_s']:.1f} s", f"{one['deadline_s']:.1f} s",
          yes(one["state"] == "trained" and one["time_s"] <= one["deadline_s"]),
          f"{one['cost_usd']:.5f}", f"{one['cost_usd'] / calm['cost_usd']:.2f}",
          "never" if one["first_on_demand_s"] is None else f"at {one['first_on_demand_s']:.1f} s",
          one["losses"]] for name, one in seeded.items()])
    return text + f"""
- n = {len(seeded)} of {DEADLINE_SEEDS}; the deadline is met in {counted(kept, len(seeded))}.
- On-demand machines alone take {calm['time_s']:.1f} s and {calm['cost_usd']:.5f} USD (measured). The
  runs cost {spread(ratios)} times that; {sum(one < 1 for one in ratios)} of {len(ratios)} cost
  less.
"""


def mixed(lines):
    rows = []
    for cluster in MIXED:
        own, equal = (lines.get(f"{cluster}, {shares}") for shares in ("own", "equal"))
        if not own or not equal:
            continue
        both = own["loss"].keys() & equal["loss"].keys()
        apart = max(abs(own["loss"][step] - equal["loss"][step]) for step in both)
        rows.append([cluster, f"{own['step']['measured_s']:.3f} s",
                     f"{equal['step']['measured_s']:.3f} s",
                     f"{equal['step']['measured_s'] / own['step']['measured_s']:.3f}",
                     f"{equal['predicted_s'] / own['predicted_s']:.3f}", f"{apart:.0e}",
                     len(both)])
    if not rows:
        return MISSING
    return table(["", "step", "step, equal shares", "speedup", "predicted speedup",
                  "loss difference", "steps"], rows) + """
- One run each. The prediction for equal shares is that of a cluster of slow machines only, because
  the slow machines set the pace.
- The loss difference is the largest over all steps, in double precision.
"""


def order_time(step):
    """What the predicted time of a save has for the order to come, see save_ahead."""
    return (1 + math.ceil(0.3 / step)) * step


def saves(lines):
    rows = []
    for place, receivers in SAVE_PLACES:
        one = lines.get(f"run {place} {receivers}")
        if not one or not one["saves"]:
            continue
        transfers = [save["transfer_s"] for save in one["saves"]]
        predicted = one["predicted_s"] - order_time(one["step"]["predicted_s"])
        rows.append([place, receivers or "", len(transfers),
                     f"{one['saves'][0]['bytes'] / 1e6:.0f} MB",
                     spread([save["stall_s"] for save in one["saves"]], "{:.3f}") + " s",
                     spread(transfers) + " s", f"{predicted:.2f} s",
                     f"{100 * (predicted / statistics.median(transfers) - 1):+.0f} %"])
    text = table(["checkpoints to", "receivers", "n", "size", "stall", "transfer", "predicted", "error"],
                 rows) if rows else MISSING
    text += "\nCompared with blocking checkpoints on otherwise idle machines (10 checkpoints each):\n\n"
    rows = []
    for place, receivers in SAVE_PLACES:
        one = lines.get(f"stall {place} {receivers}")
        if one:
            worst = max(one["workers"], key=lambda each: each["ratio"])
            rows.append([place, receivers or "", f"{worst['bytes'] / 1e6:.0f} MB",
                         f"{worst['blocking_s']:.3f} s", f"{worst['stall_s']:.4f} s",
                         f"{100 * worst['ratio']:.1f} %", yes(worst["ratio"] <= 0.1)])
    return text + (table(["checkpoints to", "receivers", "size per worker", "blocking", "stall",
                          "ratio", "at most 10 %"], rows) if rows else MISSING) + """
- A transfer starts when the in-memory copy exists and ends with the slowest worker. Training uses
  the same network and the same two cores meanwhile; the prediction accounts for neither.
- The second table shows the worker with the largest ratio.
"""


def replan(lines):
    if not lines:
        return MISSING
    text = ""
    for name, one in lines.items():
        after = one["noticed_after_s"]
        text += (f"**{name}**: {one['state']} after {one['time_s']:.0f} s; slowed at "
                 f"{one['slowed_at_s']:.1f} s; "
                 + ("**not detected**" if after is None else f"detected {after:.1f} s later")
                 + ".\n\n```\n"
                 + "".join(f"{event['at_s']:7.1f} s  {event['text']}\n" for event in one["events"])
                 + "```\n\n")
    return text


MISSING = "Not measured yet.\n"
SECTIONS = [
    ("runs", "Spot interruptions", runs,
     "Three or four spot machines. Each stays up for 40 s on average and is then unavailable for "
     "12 s. The forecast knows these means but not the seed. The forecast was developed on seeds 1 to "
     "80, none of which is in the table. (On seeds 41 to 60, before workers exited without waiting "
     "for broken process groups, the interval covered 12 of 20 bills.)"),
    ("deadline", "Deadlines during long spot outages", deadline,
     "Three spot machines that stay up for 20 s and are unavailable for 120 s on average. The "
     "deadline is twice the time of three on-demand machines."),
    ("mixed", "Mixed clusters", mixed,
     "Batch shares in proportion to speed, compared with equal shares."),
    ("saves", "Checkpoints", saves,
     "A perceptron with 97 MB of parameters and the same amount of momentum, on four machines with "
     "1 Gbit/s. Receivers have 500 Mbit/s."),
    ("replan", "Replanning after a network slowdown", replan,
     "The NIC of one of three machines slows from 500 to 167 Mbit/s after some steps."),
]


def main():
    """The command."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "data/measurements/runs"
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/measured/runs.md"
    text = INTRODUCTION
    for part, title, section, what in SECTIONS:
        path = folder / f"{part}.jsonl"
        lines = {}
        if path.exists():
            lines = {line["case"]: line for line in map(json.loads, path.read_text().splitlines())}
        text += f"\n## {title}\n\n{what}\n\n" + section(lines)
    out.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
