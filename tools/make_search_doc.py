#!/usr/bin/python3
"""Writes docs/measured/search.md, the measured searches, from tools/measure_search.py's output.

Usage: make_search_doc.py [FOLDER] [OUT.md]

The defaults are data/measurements/search and docs/measured/search.md. This script measures nothing
and leaves no case out: the page names each case without a measurement.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_runs_doc import MISSING, counted, spread, table, yes  # noqa: E402
from measure_runs import read_lines  # noqa: E402
from measure_search import (OUT, OBJECTIVES, TRAININGS, at_once, lossless, reached,  # noqa: E402
                            setup_of, setups, step_time, swept, value, within)

ROOT = Path(__file__).resolve().parent.parent

INTRODUCTION = """# Searches: compared with a full sweep

These searches took place on the emulated cloud of one computer (`stint local`). Its prices are
invented. Compute is *paced-real*: each worker computes real gradients, all-reduces them over the
shaped network and applies them, at the pace of the job's profile. Each training runs to a target
training loss (mean of ten steps). The number of steps is therefore real, and varies by chance.

A figure followed by a range in brackets is a median with its minimum and maximum.

To repeat the measurements, run `tools/measure_search.py build/release/stint` on an idle computer,
then `tools/make_search_doc.py`. The raw figures are in `data/measurements/search`.
"""

FORMS = {"time": "{:.1f} s", "cost": "{:.5f} USD"}


def setup_text(setup):
    """The text form of a setup."""
    kind, machines, batch = setup
    return f"{machines}× {kind}, batch {batch}"


def targets():
    """The jobs and their targets."""
    return table(["", "target loss", "reference batch", "expected steps", "batches", "options"],
                 [[job, it.loss, it.own()[0], it.own()[1], ", ".join(map(str, it.batches)),
                   " ".join(it.words)] for job, it in TRAININGS.items()])


def rank(values, one):
    """The rank of one value among the others."""
    return 1 + sum(other < one for other in values)


def standing(line, sweep, measure):
    """A search by one measure, as cells, with the ratios to the best of the search and its choice."""
    first, form = line["first"], FORMS[measure]
    values = swept(sweep, line["job"], measure)
    all_of, own = list(values.values()), value(first, measure)
    if not all_of:
        return [form.format(own)] + [""] * 5, None, None
    chosen = values.get(setup_of(first["search"]["choice"]))
    over = own / all_of[0], chosen / all_of[0] if chosen else None
    cells = [form.format(own), form.format(all_of[0]), f"{over[0]:.2f}",
             f"{own / statistics.median(all_of):.2f}", f"{rank(all_of, own)} of {len(all_of)}",
             f"{over[1]:.2f}, {rank(all_of, chosen)} of {len(all_of)}" if chosen else "not trained"]
    return cells, *over


def searches(lines, sweep):
    """Searches compared with the sweep, by their objective and by the other measure."""
    if not lines:
        return MISSING
    rows, over_best, choice_over = [], [], []
    for name, line in lines.items():
        asked = line["objective"]
        cells, own, chosen = standing(line, sweep, asked)
        rows.append([name, *cells, setup_text(setup_of(line["first"]["search"]["choice"])),
                     yes(reached(line["first"]))])
        over_best += [own] if own else []
        choice_over += [chosen] if chosen else []
        for other in OBJECTIVES:
            if other != asked:
                rows.append([f"{other} of the same search", *standing(line, sweep, other)[0], "", ""])
    text = table(["", "search", "best of sweep", "ratio to best", "ratio to median", "rank",
                  "chosen setup: ratio to best, rank", "chosen setup", "target reached"], rows)
    if over_best:
        text += f"""
- By its own objective, a search, including its probes and moves, needs {spread(over_best)} times
  the best setup of its sweep. The chosen setup alone needs
  {spread(choice_over) if choice_over else "?"} times the best. Only a sweep can identify the best.
- n = {len(lines)} of {len(TRAININGS) * len(OBJECTIVES)}, one search each. The full sweep takes
  {sweep_price(sweep)}.
"""
    return text + "".join(reasons(lines))


def reasons(lines):
    """Why searches did not reach their target."""
    for name, line in lines.items():
        for which in ("first", "again"):
            if not reached(line[which]):
                yield f"- {name}, {which}: {line[which]['search'].get('reason', 'no reason')}\n"


def sweep_price(sweep):
    """Total time and cost of all setups of each job."""
    found = []
    for job in TRAININGS:
        of_job = [one for one in sweep.values() if one["job"] == job]
        found.append(f"{sum(value(one, 'time') for one in of_job):.0f} s and "
                     f"{sum(value(one, 'cost') for one in of_job):.4f} USD ({job}, "
                     f"{len(of_job)} setups)")
    return ", ".join(found)


def sweeps(lines):
    """All setups, by job."""
    text = ""
    for job, training in TRAININGS.items():
        of_job = {(one["type"], one["vms"], one["batch"]): one for one in lines.values()
                  if one["job"] == job}
        if not of_job:
            continue
        clusters = list(dict.fromkeys(setup[:2] for setup in setups(job)))
        rows = [[f"{machines}× {kind}"] + [setup_cell(of_job.get((kind, machines, batch)))
                                          for batch in training.batches]
                for kind, machines in clusters]
        text += f"**{job}**: time, cost and steps to the target\n\n" + table(
            [""] + [f"batch {batch}" for batch in training.batches], rows) + "\n"
    return text or MISSING


def setup_cell(one):
    """A setup of the sweep."""
    if not one:
        return "missing"
    answer = one["search"]
    if not reached(one):
        return f"**{answer['outcome']}** after {answer['time_s']:.1f} s"
    return f"{answer['time_s']:.1f} s, {answer['cost_usd']:.5f} USD, {answer['steps']}"


def interval_text(interval, form):
    """From p10 to p90."""
    if not interval:
        return ""
    return f"{form.format(interval['p10'])}–{form.format(interval['p90'])}"


def moves(lines):
    """Predicted and measured time and cost of moves."""
    rows, in_time, in_cost, lost = [], [], [], []
    for name, line in lines.items():
        lost.append((name, lossless(line["first"]), line["first"]))
        for move in line["first"]["search"]["moves"]:
            took, cost = move.get("measured_s"), move.get("measured_usd")
            held = (within(move.get("predicted_s"), took), within(move.get("predicted_usd"), cost))
            in_time += [held[0]] if held[0] is not None else []
            in_cost += [held[1]] if held[1] is not None else []
            rows.append([name, f"{move['at_s']:.1f} s", setup_text(setup_of(move["from"])),
                         setup_text(setup_of(move["to"])),
                         interval_text(move.get("predicted_s"), "{:.1f}"),
                         "not made" if took is None else f"{took:.1f} s", mark(held[0]),
                         interval_text(move.get("predicted_usd"), "{:.6f}"),
                         "" if cost is None else f"{cost:.6f}", mark(held[1])])
    if not lines:
        return MISSING
    text = table(["", "at", "from", "to", "predicted, s", "measured", "inside", "predicted, USD",
                  "measured, USD", "inside"], rows) if rows else "No search moved.\n"
    text += "\n"
    for what, held in (("time", in_time), ("cost", in_cost)):
        if held:
            text += f"- The 80 % interval of the {what} covers {counted(sum(held), len(held))}.\n"
    for name, whole, facts in lost:
        made = sum(1 for move in facts["search"]["moves"] if move.get("measured_s") is not None)
        text += (f"- {name}: moves: {made}; no step lost: {yes(whole)} "
                 f"({facts['search']['steps']} steps trained, {facts['report']['saved']} saved, "
                 f"{facts['report']['redone']} redone).\n")
    return text


def mark(held):
    """Whether an interval covers the measurement, if known."""
    return "" if held is None else yes(held)


def surfaces(lines, sweep):
    """Final predictions of searches for all setups, compared with the sweep."""
    rows = []
    for name, line in lines.items():
        known = {(one["type"], one["vms"], one["batch"]): one for one in sweep.values()
                 if one["job"] == line["job"] and reached(one)}
        steps, times, held = {True: [], False: []}, [], []
        for one in line["first"]["search"].get("surface", []):
            measured = known.get((one["type"], one["vms"], one["batch"]))
            step = step_time(measured) if measured else None
            if step is None:
                continue
            steps[one["timed"]].append(abs(one["step_s"]["mean"] / step - 1))
            times.append(abs(one["time_s"] / value(measured, "time") - 1))
            held.append(within(one["step_s"], step))
        if times:
            rows.append([name, *(f"{error(steps[timed])} (n = {len(steps[timed])})"
                                 for timed in (True, False)),
                         f"{sum(held)} of {len(held)}", error(times)])
    if not rows:
        return MISSING
    return table(["", "step error, timed setups", "step error, other setups", "inside the interval",
                  "error of whole trainings"], rows) + """
- Median absolute errors against the sweep run of the same setup. Whole trainings include the number
  of steps and the start-up of machines.
"""


def error(values):
    """The median of relative errors."""
    return f"{100 * statistics.median(values):.1f} %" if values else ""


def again(lines):
    """The second run of the same job."""
    if not lines:
        return MISSING
    rows = []
    for name, line in lines.items():
        second, form = line["again"], FORMS[line["objective"]]
        rows.append([name, setup_text(setup_of(line["first"]["search"]["choice"])),
                     setup_text(setup_of(second["search"]["choice"])),
                     len(second["search"]["moves"]), yes(at_once(line)), yes(reached(second)),
                     form.format(value(line["first"], line["objective"])),
                     form.format(value(second, line["objective"]))])
    return table(["", "first choice", "second choice", "moves", "starts at first choice and stays",
                  "target reached", "first search", "second search"], rows)


def remark(folder, name):
    """Notes on the measurements, if there are any."""
    told = folder / name
    return "\n" + told.read_text(encoding="utf-8") if told.exists() else ""


def main():
    """The command."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/measured/search.md"
    found, sweep, more = (read_lines(folder / f"{part}.jsonl")
                          for part in ("search", "sweep", "moves"))
    differ = max((abs(facts["report"]["bill_difference_usd"])
                  for facts in [*sweep.values(), *(line["first"] for line in (found | more).values())]),
                 default=0)
    sections = [
        ("Jobs", targets()),
        ("Searches and sweep", searches(found, sweep)),
        ("Sweep", sweeps(sweep) + remark(folder, "remark.txt")),
        ("Moves", "Moves of the searches above, and of searches with other starting points.\n\n"
         + moves(found | more) + remark(folder, "moves_remark.txt")),
        ("Predictions for all setups", surfaces(found, sweep)),
        ("Second search of the same job", "In mode `none`, with the results of the first search.\n\n"
         + again(found)),
    ]
    text = INTRODUCTION + "".join(f"\n## {title}\n\n{body}" for title, body in sections)
    if found or sweep:
        text += f"\nDifference between a bill and the sum of VM-seconds × price: at most {differ:.0e} USD.\n"
    out.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
