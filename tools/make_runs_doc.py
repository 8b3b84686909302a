#!/usr/bin/python3
"""Writes docs/runs.md: what was measured of runs, from the lines of tools/measure_runs.py.

Usage: make_runs_doc.py [FOLDER] [OUT.md]

The folder is data/measurements/runs, the page docs/runs.md, unless others are given. Nothing is
measured here, and no case is left out: what was not measured yet is said to be missing.
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

INTRODUCTION = """# Runs: what was forecast, and what happened

All of this was measured on the emulated cloud of one computer (`stint local`), with prices that are
made up and nobody pays. Compute is *paced-real*: gradients are computed, summed over the shaped
network and applied, and take the time that the job's profile says. So compute times are right by
construction; what is tested is everything else: starts, losses, saves, the network, the bill.

Measure again with `tools/measure_runs.py build/release/stint` on a computer that does nothing else,
and make this page of it with `tools/make_runs_doc.py`. The figures are in `data/measurements/runs`.
"""


def table(titles, rows):
    """A table of Markdown; numbers are aligned to the right."""
    lines = ["| " + " | ".join(titles) + " |",
             "|" + "|".join("---" if not place else "---:" for place in range(len(titles))) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def share_interval(count, total):
    """The 95 % interval of a share, by Wilson."""
    z = 1.96
    share = count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total
                                               + z * z / (4 * total * total))
    return f"{100 * (middle - half):.0f}–{100 * (middle + half):.0f} %"


def counted(count, total):
    """A count with the interval of its share."""
    return f"{count} of {total} (95 % interval of the share: {share_interval(count, total)})"


def spread(values, form="{:.2f}"):
    """Median, and from the least to the most."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def yes(condition):
    """Whether."""
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
        ["", "job", "machines", "notice", "saved to", "losses", "redone", "time", "forecast",
         "bill, USD", "80 % interval", "in it", "parameters"],
        [[name, one["job"], one["machines"], one["notice"], one["place"], one["losses"],
          one["redone"], f"{one['time_s']:.0f} s", f"{one['forecast']['time_s']['mean']:.0f} s",
          f"{one['cost_usd']:.5f}", "{p10:.5f}–{p90:.5f}".format(**one["forecast"]["cost_usd"]),
          yes(covers(one)), f"{one['parameters']:.0e}" if "parameters" in one else one["state"]]
         for name, one in seeded.items()])
    ratios = [one["cost_usd"] / one["forecast"]["cost_usd"]["mean"] for one in all_of]
    known = [one["cost_usd"] / one["hindsight"]["cost_usd"]["mean"] for one in all_of
             if "hindsight" in one]
    return text + f"""
- n = {len(all_of)} of {SEEDS}; trained: {counted(len(trained), len(all_of))}.
- The 80 % interval of the forecast covers the bill in {counted(covered, len(all_of))}; of those it
  misses, {cheaper} were cheaper. Its mean width is {statistics.mean(map(width, all_of)):.2f} times
  the forecast. That of the time covers {in_time}.
- The bill is {spread(ratios)} times its forecast, and {spread(known)} times what would have been
  forecast had the market been known beforehand.
- Machines lost in a run: {spread([one['losses'] for one in all_of], '{:.0f}')}; steps that were
  trained twice: {spread([one['redone'] for one in all_of], '{:.0f}')}.
- Parameters: the largest difference from an uninterrupted training by one worker, against the
  largest parameter of its tensor, is {max(same, default=float('nan')):.0e}, in double precision.
  Uninterrupted runs on three machines, which add in another order too, differ by up to
  {max(calm, default=float('nan')):.0e}.
- Sum of VM-seconds × price less the bill: at most
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
        ["", "time", "deadline", "kept", "bill, USD", "of on demand only", "first bought on demand",
         "losses"],
        [[name, f"{one['time_s']:.1f} s", f"{one['deadline_s']:.1f} s",
          yes(one["state"] == "trained" and one["time_s"] <= one["deadline_s"]),
          f"{one['cost_usd']:.5f}", f"{one['cost_usd'] / calm['cost_usd']:.2f}",
          "never" if one["first_on_demand_s"] is None else f"at {one['first_on_demand_s']:.1f} s",
          one["losses"]] for name, one in seeded.items()])
    return text + f"""
- n = {len(seeded)} of {DEADLINE_SEEDS}; the deadline is kept in {counted(kept, len(seeded))}.
- On-demand machines only take {calm['time_s']:.1f} s and {calm['cost_usd']:.5f} USD, measured. The
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
    return table(["", "step", "with equal shares", "speedup", "predicted", "losses differ by",
                  "steps"], rows) + """
- One run each. Predicted for equal shares is a cluster of slow machines only, since those decide.
- The difference of losses is the largest of any step, in double precision.
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
    text = table(["saved to", "receivers", "n", "size", "stall", "transfer", "predicted", "off by"],
                 rows) if rows else MISSING
    text += "\nAgainst saves that block, on machines that do nothing else (10 saves each):\n\n"
    rows = []
    for place, receivers in SAVE_PLACES:
        one = lines.get(f"stall {place} {receivers}")
        if one:
            worst = max(one["workers"], key=lambda each: each["ratio"])
            rows.append([place, receivers or "", f"{worst['bytes'] / 1e6:.0f} MB",
                         f"{worst['blocking_s']:.3f} s", f"{worst['stall_s']:.4f} s",
                         f"{100 * worst['ratio']:.1f} %", yes(worst["ratio"] <= 0.1)])
    return text + (table(["saved to", "receivers", "of each worker", "blocking", "stall", "ratio",
                          "at most 10 %"], rows) if rows else MISSING) + """
- Transfers are measured from the copy on, the slowest worker's, while training uses the same
  network and the same two cores; the prediction knows of neither.
- Medians; in brackets from the least to the most. Of all workers the one with the largest ratio.
"""


def replan(lines):
    if not lines:
        return MISSING
    text = ""
    for name, one in lines.items():
        after = one["noticed_after_s"]
        text += (f"**{name}**: {one['state']} after {one['time_s']:.0f} s, slowed at "
                 f"{one['slowed_at_s']:.1f} s, noticed "
                 + ("**never**" if after is None else f"{after:.1f} s later") + ".\n\n```\n"
                 + "".join(f"{event['at_s']:7.1f} s  {event['text']}\n" for event in one["events"])
                 + "```\n\n")
    return text


MISSING = "Not measured yet.\n"
SECTIONS = [
    ("runs", "Spot machines that come and go", runs,
     "Three or four spot machines, each of which stays for 40 s on average and then is away for "
     "12 s. The forecast knows these means, and not the seed. On seeds 1 to 80 it was worked out; none "
     "of those is here. (Of 41 to 60, before workers ended without waiting for broken groups, it held "
     "12 of 20 bills.)"),
    ("deadline", "A deadline while spot machines are away for long", deadline,
     "Three spot machines that stay for 20 s and are away for 120 s on average; the deadline is "
     "twice what three machines on demand took."),
    ("mixed", "Fast and slow machines together", mixed,
     "Shares of the batch by speed against equal shares."),
    ("saves", "Saves", saves,
     "A perceptron with 97 MB of parameters and as much of momentum on four machines with 1 Gbit/s; "
     "receivers have 500 Mbit/s."),
    ("replan", "A network that turns slow in mid-run", replan,
     "The NIC of one of three machines is slowed from 500 to 167 Mbit/s after some steps."),
]


def main():
    """The command."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "data/measurements/runs"
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/runs.md"
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
