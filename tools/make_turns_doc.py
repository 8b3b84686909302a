#!/usr/bin/python3
"""Writes docs/turns.md: what was measured of jobs in turns, from the lines of tools/measure_turns.py.

Usage: make_turns_doc.py [FOLDER] [OUT.md]

The folder is data/measurements/turns, the page docs/turns.md, unless others are given. Nothing is
measured here, and no case is left out: what was not measured yet is said to be missing.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_runs_doc import MISSING, spread, table, yes  # noqa: E402
from measure_runs import read_lines  # noqa: E402
from measure_turns import (ARRANGEMENTS, FRESH, KIND, MODES, OUT, REPEATS, ROUNDS, computing,  # noqa: E402
                           options_of, same_cases, unequal_cases)

ROOT = Path(__file__).resolve().parent.parent

# Against one after the other without overlap, of a prototype on 2 VMs.
REFERENCE = {0.25: 1.22, 0.5: 1.47, 1: 1.92, 1.5: 1.63, 2: 1.48}
BOUND_MIN = 0.95
ERROR_MAX = 0.05
CLOSE = 0.02  # Two ways that differ by less than this share are equally good.

INTRODUCTION = f"""# Two jobs on the same machines: what taking turns brings

All of this was measured on the emulated cloud of one computer (`stint local`, VMs of {KIND}).
Compute is *paced*: nothing is computed, and takes the time that the job's profile says. The
turnstiles, DistributedDataParallel, Gloo and the shaped network are real. The page proves how
computing and communication of two jobs fit into each other; what communication kernels of one job
cost another that computes on a GPU, it does not.

Predictions are those of `stint interleave`, written to a file before anything was measured. A
makespan is the time from the common start of both jobs until the last worker of both is done, the
mean of {REPEATS} repeats unless said otherwise; ± is their standard deviation.

Measure again with `tools/measure_turns.py build/release/stint` on a computer that does nothing
else, and make this page of it with `tools/make_turns_doc.py`. The figures are in
`data/measurements/turns`.
"""

TITLES = {"plain": "one after the other, no overlap", "overlap": "one after the other, DDP's overlap",
          "freely": "freely", "whole": "turns, whole", "bucket": "turns, bucket"}


def mean(line, name):
    """The mean makespan of an arrangement."""
    return statistics.mean(line["arrangements"][name]["makespan_s"])


def makespan_cell(line, name):
    """With its spread."""
    values = line["arrangements"][name]["makespan_s"]
    deviation = statistics.stdev(values) if len(values) > 1 else 0
    return f"{statistics.mean(values):.2f} ± {deviation:.2f} s"


def both(lines, predictions):
    """The cases that were predicted and measured, with both."""
    return [(name, line, predictions[name]) for name, line in lines.items() if name in predictions]


def communication(line, asked):
    """Measured seconds from the last gradient to the next iteration of a job alone."""
    return mean(line, "plain") / (2 * asked["iterations"][0]) - computing(asked["jobs"][0])


def makespans(found):
    """Of each arrangement."""
    rows = []
    for name, line, asked in found:
        ratio = communication(line, asked) / computing(asked["jobs"][0])
        rows.append([name, f"{ratio:.2f}", *(makespan_cell(line, one) for one in ARRANGEMENTS)])
    return table(["VMs, communication / computing", "measured", *TITLES.values()], rows)


def bound(line, asked):
    """The shortest round of two equal jobs that do not overlap with themselves:
    max(Σ computing, Σ communication, computing + communication)."""
    compute, sync = computing(asked["jobs"][0]), communication(line, asked)
    return max(2 * compute, 2 * sync, compute + sync)


def prototype(case):
    """What a prototype gained in that case."""
    vms, ratio = case.split(", ")
    return REFERENCE.get(float(ratio), "") if vms == "2 VMs" else ""


def against_bound(found):
    """What turns gain over one after the other without overlap, and how close to the bound that is."""
    rows, shares = [], []
    for name, line, asked in found:
        period = statistics.mean(line["arrangements"]["whole"]["period_s"])
        shares.append(bound(line, asked) / period)
        gains = [mean(line, "plain") / mean(line, one) for one in ("freely", "whole", "bucket")]
        rows.append([name, *(f"{gain:.2f}" for gain in gains),
                     prototype(name),
                     f"{1e3 * bound(line, asked):.1f} ms", f"{1e3 * period:.1f} ms",
                     f"{100 * shares[-1]:.1f} %", yes(shares[-1] >= BOUND_MIN)])
    kept = sum(share >= BOUND_MIN for share in shares)
    return table(["", "freely", "whole", "bucket", "prototype", "bound of a round",
                  "whole, a round", "share of the bound", f"≥ {100 * BOUND_MIN:.0f} %"], rows) + f"""
- {kept} of {len(shares)} reach {100 * BOUND_MIN:.0f} % of the bound; in percent:
  {spread([100 * share for share in shares], "{:.1f}")}.
- The bound has the profile's computing, and the communication that was measured of the jobs alone.
  Makespans have the last communication in them, which nobody computes beside: of so few iterations
  that is 1 to 3 %.
"""


def against_predicted(found):
    """Gains over one after the other with overlap, beside the predicted ones."""
    rows, errors = [], {one: [] for one in ("freely", "whole", "bucket")}
    rounds = {one: [] for one in errors}  # The same by rounds in the middle of the run.
    for name, line, asked in found:
        said = options_of(asked["interleave"])
        cells = []
        for one, of_mode in errors.items():
            gain = mean(line, "overlap") / mean(line, one)
            if one not in said:
                cells += [f"{gain:.3f}", "", "not predicted"]
                continue
            of_mode.append(said[one]["speedup"] / gain - 1)
            cells += [f"{gain:.3f}", f"{said[one]['speedup']:.3f}", f"{100 * of_mode[-1]:+.1f} %"]
            period = statistics.mean(line["arrangements"][one]["period_s"])
            steady = mean(line, "overlap") / asked["iterations"][0] / period
            rounds[one].append(said[one]["speedup"] / steady - 1)
        rows.append([name, *cells])
    text = table(["", *(f"{one}{what}" for one in errors for what in ("", ", predicted", ", error"))],
                 rows) + "\n"
    for one, of_mode in errors.items():
        if of_mode:
            within = sum(abs(error) <= ERROR_MAX for error in of_mode)
            text += (f"- {TITLES[one]}: {within} of {len(of_mode)} within {100 * ERROR_MAX:.0f} %; mean "
                     f"absolute error {100 * statistics.mean(map(abs, of_mode)):.1f} %, worst "
                     f"{100 * max(of_mode, key=abs):+.1f} %; by rounds in the middle of the run, "
                     f"without their start and end, "
                     f"{100 * statistics.mean(map(abs, rounds[one])):.1f} % and "
                     f"{100 * max(rounds[one], key=abs):+.1f} %.\n")
    return text


def choices(found):
    """Which was best, and which Stint recommends."""
    rows, right = [], 0
    for name, line, asked in found:
        by_mode = {mode: mean(line, one) for one, mode in MODES.items()}
        best = min(by_mode, key=by_mode.get)
        recommended = asked["interleave"]["recommended"]
        loss = by_mode[recommended] / by_mode[best] - 1
        right += loss <= CLOSE
        rows.append([name, best, recommended, f"{100 * loss:.1f} %", yes(loss <= CLOSE)])
    return table(["", "best", "recommended", "longer than the best by",
                  f"within {100 * CLOSE:.0f} %"], rows) + f"\n- n = {len(rows)}, {right} right.\n"


def unequal(lines, predictions):
    """Rounds of unequal jobs."""
    rows, errors, repeats = [], [], set()
    for name, line, asked in both(lines, predictions):
        said = options_of(asked["interleave"])
        for mode, facts in line["arrangements"].items():
            measured, predicted = statistics.mean(facts["period_s"]), said[mode]["period_s"]
            errors.append(predicted / measured - 1)
            repeats.add(len(facts["period_s"]))
            rows.append([name, mode, " : ".join(map(str, facts["turns"])),
                         f"{1e3 * predicted:.1f} ms", f"{1e3 * measured:.1f} ms",
                         f"{1e3 * statistics.pstdev(facts['period_s']):.1f} ms",
                         f"{100 * errors[-1]:+.1f} %", f"{said[mode]['time_s']:.2f} s",
                         makespan_cell(line, mode)])
    if not rows:
        return MISSING
    within = sum(abs(error) <= ERROR_MAX for error in errors)
    return table(["", "mode", "turns", "round, predicted", "measured", "±", "error",
                  "makespan, predicted", "measured"], rows) + f"""
- {within} of {len(errors)} rounds within {100 * ERROR_MAX:.0f} %; worst
  {100 * max(errors, key=abs):+.1f} %. n = {" or ".join(map(str, sorted(repeats)))} each, of {ROUNDS} iterations of the second job.
"""


def missing(lines, cases):
    """What is not there yet, as a sentence."""
    left = [name for name in cases if name not in lines]
    return f"\nNot measured yet: {'; '.join(left)}.\n" if left else ""


def main():
    """The command."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/turns.md"
    same, other, fresh, predictions = (read_lines(folder / f"{part}.jsonl")
                                       for part in ("same", "unequal", "fresh", "predictions"))
    again = read_lines(folder / "again.jsonl")
    told = folder / "remark.txt"  # On how these figures came about.
    remark = "\n" + told.read_text(encoding="utf-8") if told.exists() else ""
    found = both(same, predictions)
    sections = [
        ("Makespans of two equal jobs", makespans, "Of 12 iterations each at "
         "0.25, 15 at 0.5, and 20. Sharing freely, a job that computes offers its turn every 2 ms."),
        ("Over one after the other without overlap", against_bound,
         "A round is an iteration of each job, measured in the middle of the run."),
        ("Over one after the other with DDP's overlap", against_predicted,
         "What a user gains, beside what Stint predicts."),
        ("What Stint recommends", choices, "Of separately (one after the other with overlap), freely, "
         "whole and bucket, by the mean makespan."),
    ]
    text = INTRODUCTION + "".join(
        f"\n## {title}\n\n{told_first}\n\n{body(found) if found else MISSING}"
        for title, body, told_first in sections)
    text += missing(same, same_cases())
    text += ("\n## Unequal jobs\n\nIn the rhythm that Stint chooses, against the event-driven twin.\n\n"
             + unequal(other, predictions) + missing(other, unequal_cases()) + remark)
    text += ("\n## Unequal jobs that were new to the program\n\nPredicted before they were first run, after "
             "what is told above.\n\n" + unequal(fresh, predictions) + missing(fresh, FRESH))
    if again:
        later = both(same, again)
        text += ("\n## The same by the present program\n\nNot predictions: these were made when all above "
                 "was known.\n\n" + against_predicted(later) + "\n" + choices(later))
    out.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
