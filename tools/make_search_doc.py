#!/usr/bin/python3
"""Writes docs/search.md: what was measured of searches, from the lines of tools/measure_search.py.

Usage: make_search_doc.py [FOLDER] [OUT.md]

The folder is data/measurements/search, the page docs/search.md, unless others are given. Nothing is
measured here, and no case is left out: what was not measured yet is said to be missing.
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

INTRODUCTION = """# Searches: what was found, and what a sweep finds

All of this was measured on the emulated cloud of one computer (`stint local`), with prices that are
made up and nobody pays. Compute is *paced-real*: gradients are computed, summed over the shaped
network and applied, and take the time that the job's profile says. Each training goes to a target
of the training loss, the mean of ten steps, so that the steps it needs are real, and differ by
chance too.

Measure again with `tools/measure_search.py build/release/stint` on a computer that does nothing
else, and make this page of it with `tools/make_search_doc.py`. The figures are in
`data/measurements/search`.
"""

FORMS = {"time": "{:.1f} s", "cost": "{:.5f} USD"}


def setup_text(setup):
    """A setup as people read it."""
    kind, machines, batch = setup
    return f"{machines}× {kind}, batch {batch}"


def targets():
    """What is trained, and to where."""
    return table(["", "target loss", "own batch", "steps thought of", "batches", "options"],
                 [[job, it.loss, it.own()[0], it.own()[1], ", ".join(map(str, it.batches)),
                   " ".join(it.words)] for job, it in TRAININGS.items()])


def rank(values, one):
    """Its place among them, if it were one of them."""
    return 1 + sum(other < one for other in values)


def standing(line, sweep, measure):
    """What a search took by one measure, as cells, and against the best: itself and its choice."""
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
    """Where searches end against the sweep, by what they were asked for and by the other."""
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
                rows.append([f"its {other}", *standing(line, sweep, other)[0], "", ""])
    text = table(["", "search", "best of the sweep", "over the best", "over the median",
                  "its place", "its choice over the best", "choice", "at its target"], rows)
    if over_best:
        text += f"""
- By what it was asked for, a search, with its probes and moves, is {spread(over_best)} times the
  best of its sweep, which nobody knows without the sweep; its choice alone is
  {spread(choice_over) if choice_over else "?"} times the best.
- n = {len(lines)} of {len(TRAININGS) * len(OBJECTIVES)}, one search each. What an exhaustive answer
  costs: {sweep_price(sweep)}.
"""
    return text + "".join(reasons(lines))


def reasons(lines):
    """Why searches did not come to their target."""
    for name, line in lines.items():
        for which in ("first", "again"):
            if not reached(line[which]):
                yield f"- {name}, {which}: {line[which]['search'].get('reason', 'no reason')}\n"


def sweep_price(sweep):
    """What all setups of each job took together."""
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
        text += f"**{job}**, time, bill and steps to the target:\n\n" + table(
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
    """What was predicted of moves, and what they took."""
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
    text = table(["", "at", "from", "to", "predicted, s", "took", "in it", "predicted, USD", "cost",
                  "in it"], rows) if rows else "No search moved.\n"
    text += "\n"
    for what, held in (("seconds", in_time), ("dollars", in_cost)):
        if held:
            text += f"- The 80 % interval of {what} holds in {counted(sum(held), len(held))}.\n"
    for name, whole, facts in lost:
        made = sum(1 for move in facts["search"]["moves"] if move.get("measured_s") is not None)
        text += (f"- {name}: {made} moves; no step lost: {yes(whole)} "
                 f"({facts['search']['steps']} steps done, {facts['report']['saved']} saved, "
                 f"{facts['report']['redone']} redone).\n")
    return text


def mark(held):
    """Whether an interval holds, if that is known."""
    return "" if held is None else yes(held)


def surfaces(lines, sweep):
    """What searches believed of all setups in the end, against the sweep."""
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
    return table(["", "steps it had timed", "steps it had not", "in their interval",
                  "whole trainings"], rows) + """
- Medians of the absolute error, against the run of the sweep with the same setup. Whole trainings
  have the steps that are needed, and the start of machines, in them.
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
    return table(["", "chosen", "second run", "its moves", "at once", "at its target", "first",
                  "second"], rows)


def main():
    """The command."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/search.md"
    found, sweep, more = (read_lines(folder / f"{part}.jsonl")
                          for part in ("search", "sweep", "moves"))
    told = folder / "remark.txt"  # On how these figures came about.
    remark = "\n" + told.read_text(encoding="utf-8") if told.exists() else ""
    differ = max((abs(facts["report"]["bill_difference_usd"])
                  for facts in [*sweep.values(), *(line["first"] for line in (found | more).values())]),
                 default=0)
    sections = [
        ("What is trained", targets()),
        ("Searches against the sweep", searches(found, sweep)),
        ("The sweep", sweeps(sweep) + remark),
        ("Moves", "Of the searches above, and of some that were told to begin elsewhere. Where "
         "machines are kept, what it took counts from the last step that was told before newcomers "
         "were started, though those who train go on until they are ready: it is too long by "
         "that.\n\n"
         + moves(found | more)),
        ("What searches believe of all setups", surfaces(found, sweep)),
        ("The same job again", "In mode `none`, with what the search before learned.\n\n"
         + again(found)),
    ]
    text = INTRODUCTION + "".join(f"\n## {title}\n\n{body}" for title, body in sections)
    if found or sweep:
        text += f"\nSum of VM-seconds × price less the bill of a run: at most {differ:.0e} USD.\n"
    out.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
