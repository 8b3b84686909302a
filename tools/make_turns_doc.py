#!/usr/bin/python3
"""Writes docs/measured/turns.md, the measured speedups of interleaved jobs.

Usage: make_turns_doc.py [FOLDER] [OUT.md]

The defaults are data/measurements/turns, the output of tools/measure_turns.py, and
docs/measured/turns.md. This script measures nothing and leaves no case out: the page names each case
without a measurement.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_runs_doc import MISSING, spread, table, yes  # noqa: E402
from measure_runs import read_lines  # noqa: E402
from measure_turns import (ARRANGEMENTS, DRAWN, FRESH, KIND, MODES, OUT, REPEATS, ROUNDS,  # noqa: E402
                           computing, drawn_cases, options_of, same_cases, unequal_cases)

ROOT = Path(__file__).resolve().parent.parent

# Speedups of a prototype on 2 VMs over sequential runs without overlap.
REFERENCE = {0.25: 1.22, 0.5: 1.47, 1: 1.92, 1.5: 1.63, 2: 1.48}
BOUND_MIN = 0.95
ERROR_MAX = 0.05
CLOSE = 0.02  # Modes that differ by less than this share are equally good.

INTRODUCTION = f"""# Interleaved jobs: measured speedups

These measurements took place on the emulated cloud of one computer (`stint local`, {KIND} VMs).
Compute is *paced*: workers compute nothing and sleep for the time in the job's profile. The
turnstiles, DistributedDataParallel, Gloo and the shaped network are real. The page shows how compute
and communication of two jobs interleave. It does not show how far the communication kernels of one
job slow down the compute of another on a GPU.

Predictions are those of `stint interleave`, written to a file before the first measurement. The
makespan is the time from the common start of both jobs until the last worker of both jobs finishes.
Figures are means of {REPEATS} repeats unless stated otherwise; ± is the standard deviation.

To repeat the measurements, run `tools/measure_turns.py build/release/stint` on an idle computer,
then `tools/make_turns_doc.py`. The raw figures are in `data/measurements/turns`.
"""

WINDOWS = """Gloo's ring sends a bucket in equal segments, at most 1 MiB and at least two for each worker, and a
worker has two of them on their way at once. The emulated NIC has one long queue, in which each
stream waits with what it has on its way, so that streams share the NIC in proportion to their
segments. The current model has this law, which has no fitted constant, in place of three times the
rate for the job that starts first. These are not blind predictions: all measurements above were
known. Cases for which Stint would choose another rhythm today are left out.

"""

DRAWN_OPENING = f"""Predicted with the current model before the first run of each case. The computing and the
communication of both jobs are drawn from {", ".join(map(str, DRAWN[:-1]))} and {DRAWN[-1]} ms; the names give those of the first
and of the second job. To measure: `tools/measure_turns.py build/release/stint --only drawn`.

"""

TITLES = {"plain": "sequential, no overlap", "overlap": "sequential, DDP overlap",
          "freely": "free sharing", "whole": "turns, whole", "bucket": "turns, bucket"}


def mean(line, name):
    """The mean makespan of an arrangement."""
    return statistics.mean(line["arrangements"][name]["makespan_s"])


def makespan_cell(line, name):
    """With its spread."""
    values = line["arrangements"][name]["makespan_s"]
    deviation = statistics.stdev(values) if len(values) > 1 else 0
    return f"{statistics.mean(values):.2f} ± {deviation:.2f} s"


def both(lines, predictions):
    """Cases with both a prediction and a measurement."""
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
    return table(["VMs, communication / compute", "measured ratio", *TITLES.values()], rows)


def bound(line, asked):
    """The shortest round of two equal jobs that do not overlap with themselves:
    max(Σ computing, Σ communication, computing + communication)."""
    compute, sync = computing(asked["jobs"][0]), communication(line, asked)
    return max(2 * compute, 2 * sync, compute + sync)


def prototype(case):
    """The speedup of a prototype in that case."""
    vms, ratio = case.split(", ")
    return REFERENCE.get(float(ratio), "") if vms == "2 VMs" else ""


def against_bound(found):
    """Speedups over sequential runs without overlap, and the distance to the bound."""
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
    return table(["", "freely", "whole", "bucket", "prototype", "lower bound of a round",
                  "whole, measured round", "bound / measured", f"≥ {100 * BOUND_MIN:.0f} %"], rows) + f"""
- {kept} of {len(shares)} reach {100 * BOUND_MIN:.0f} % of the bound; median and range in percent:
  {spread([100 * share for share in shares], "{:.1f}")}.
- The bound combines the compute time of the profile with the communication time measured for each
  job alone. Makespans include the last communication, which no compute overlaps. With so few
  iterations this adds 1 to 3 %.
"""


def against_predicted(found):
    """Speedups over sequential runs with overlap, measured and predicted."""
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
                     f"{100 * max(of_mode, key=abs):+.1f} %; measured by rounds in the middle of "
                     f"the run, without start and end: "
                     f"{100 * statistics.mean(map(abs, rounds[one])):.1f} % and "
                     f"{100 * max(rounds[one], key=abs):+.1f} %.\n")
    return text


def choices(found):
    """The best mode and the recommended mode."""
    rows, right = [], 0
    for name, line, asked in found:
        by_mode = {mode: mean(line, one) for one, mode in MODES.items()}
        best = min(by_mode, key=by_mode.get)
        recommended = asked["interleave"]["recommended"]
        loss = by_mode[recommended] / by_mode[best] - 1
        right += loss <= CLOSE
        rows.append([name, best, recommended, f"{100 * loss:.1f} %", yes(loss <= CLOSE)])
    return table(["", "best", "recommended", "makespan above the best",
                  f"within {100 * CLOSE:.0f} %"], rows) + f"\n- n = {len(rows)}, {right} correct.\n"


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
    return table(["", "mode", "turns", "predicted round", "measured round", "±", "error",
                  "predicted makespan", "measured makespan"], rows) + f"""
- {within} of {len(errors)} rounds within {100 * ERROR_MAX:.0f} %; worst
  {100 * max(errors, key=abs):+.1f} %. n = {" or ".join(map(str, sorted(repeats)))} each, with {ROUNDS} iterations of the second job.
"""


def as_measured(lines, again):
    """Cases with rounds in the rhythm that Stint chooses now, without other modes."""
    kept = {}
    for name, line, asked in both(lines, again):
        said = options_of(asked["interleave"])
        modes = {mode: facts for mode, facts in line["arrangements"].items()
                 if mode in said and said[mode]["turns"] == facts["turns"]}
        if modes:
            kept[name] = {**line, "arrangements": modes}
    return kept


def missing(lines, cases):
    """A sentence that names the cases without a measurement."""
    left = [name for name in cases if name not in lines]
    return f"\nNot measured yet: {'; '.join(left)}.\n" if left else ""


def main():
    """The command."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/measured/turns.md"
    same, other, fresh, predictions = (read_lines(folder / f"{part}.jsonl")
                                       for part in ("same", "unequal", "fresh", "predictions"))
    again = read_lines(folder / "again.jsonl")
    drawn = read_lines(folder / "drawn.jsonl")
    told = folder / "remark.txt"  # Notes on the measurements.
    remark = "\n" + told.read_text(encoding="utf-8") if told.exists() else ""
    found = both(same, predictions)
    sections = [
        ("Makespans of two equal jobs", makespans, "Each job runs 12 iterations at "
         "0.25, 15 at 0.5, and 20 otherwise. With free sharing, a computing job offers its turn every "
         "2 ms."),
        ("Speedup over sequential runs without overlap", against_bound,
         "A round is one iteration of each job, measured in the middle of the run."),
        ("Speedup over sequential runs with DDP overlap", against_predicted,
         "The gain of a user, with Stint's prediction."),
        ("Recommended modes", choices, "The choice is between separately (sequential with overlap), "
         "freely, whole and bucket, by mean makespan."),
    ]
    text = INTRODUCTION + "".join(
        f"\n## {title}\n\n{opening}\n\n{body(found) if found else MISSING}"
        for title, body, opening in sections)
    text += missing(same, same_cases())
    text += ("\n## Unequal jobs\n\nStint chooses the turns per round. Predictions come from the event-driven "
             "simulator.\n\n"
             + unequal(other, predictions) + missing(other, unequal_cases()) + remark)
    text += ("\n## Unequal jobs, blind predictions\n\nPredicted after the change described above, and before "
             "the first run of each case.\n\n" + unequal(fresh, predictions) + missing(fresh, FRESH))
    text += ("\n## Unequal jobs, current model\n\n" + WINDOWS
             + unequal(as_measured({**other, **fresh}, again), again))
    text += ("\n## Unequal jobs drawn at random\n\n" + DRAWN_OPENING + unequal(drawn, predictions)
             + missing(drawn, drawn_cases()))
    if again:
        later = both(same, again)
        text += ("\n## Equal jobs, current model\n\nThese are not blind predictions: all figures above were "
                 "known.\n\n" + against_predicted(later) + "\n" + choices(later))
    out.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
