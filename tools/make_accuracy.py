#!/usr/bin/python3
"""Writes docs/accuracy.md: every accuracy figure we publish, with the command that repeats it.

Usage: make_accuracy.py STINT DATA_FOLDER OUT.md

Runs `stint validate …` on the published tables and turns its JSON into Markdown. Nothing is pooled
over data sets.
"""

import json
import subprocess
import sys
from pathlib import Path

POLLUX = ("Pollux (OSDI'21): step times on g4dn.12xlarge. github.com/petuum/adaptdl, branch "
          "osdi21-artifact at c793c7089bd3, sched/traces.")
RUNS = ("Pollux (OSDI'21): training runs at several batch sizes. github.com/petuum/adaptdl, branch "
        "osdi21-artifact at c793c7089bd3, sched/traces.")
GAVEL = ("Gavel (OSDI'20): K80, P100 and V100. github.com/stanford-futuredata/gavel at "
         "c4fa40097339, scheduler/*_throughputs.json.")
NVIDIA = ("NVIDIA DeepLearningExamples: tables of README files. "
          "github.com/NVIDIA/DeepLearningExamples at 729963dd47e7.")
CMDARE = ("CM-DARE (ICDCS'20): asynchronous parameter servers on Google Cloud. "
          "github.com/cake-lab/CM-DARE at 263b7f14951c, data/processed_data.")
NCCL = ("nccl-tests output of a tutorial. github.com/awslabs/awsome-distributed-training at "
        "0edaf1526bc4, micro-benchmarks/nccl-tests.")
SAILOR = ("Sailor (SOSP'25): peak memory of plans. github.com/eth-easl/sailor at cf2c8e3cc53c.")

ITERATION = ["pollux", "scavenger", "perfect"]

# Heading, source, arguments ("@" marks files of the data folder), baselines, what to know.
SECTIONS = [
    ("Iteration time: jobs never seen on a cluster", POLLUX,
     "iteration --format pollux --train @pollux/step_times.csv --split leave-one-job-out",
     ITERATION,
     "Each job is left out in turn except its rows on one GPU; its rows on several VMs are scored. "
     "There are only three such jobs, so the coverage of their intervals says little; and the form "
     "of the law and the width of its priors were chosen with these three jobs in view, so this is "
     "not a blind score. The baselines are fitted per job and know only one GPU of the left-out "
     "job."),
    ("The same after four probes", POLLUX,
     "iteration --format pollux --train @pollux/step_times.csv --split leave-one-job-out "
     "--probes 4", [],
     "`stint probes` chooses four rows of the left-out job, which are then trained on. The aim was "
     "5 %, and it is missed. What is left is mostly the luck of single placements, which four rows "
     "of other placements do not tell."),
    ("Iteration time: larger clusters of known jobs", POLLUX,
     "iteration --format pollux --train @pollux/step_times.csv --split max-gpus=6", ITERATION,
     "Trained on up to 6 GPUs, tested on 7 to 14."),
    ("Iteration time: another GPU", GAVEL,
     "iteration --format gavel --train @gavel/isolated.csv --split gpu=P100", ["perfect"],
     "Trained on K80 and V100 rows and one P100, tested on several P100. Recommendation, and "
     "several V100 in one server, are left out, as the publisher warns of them. The network of "
     "the P100 machines turns out faster than that of the V100 ones, which the training rows "
     "cannot tell."),
    ("Iteration time: published throughput tables", NVIDIA,
     "iteration --format nvidia --train @nvidia_dle/training_throughput.csv "
     "--split leave-one-job-out", ["perfect"],
     "Seconds per printed unit. Gradient sizes and what a step is are not stated, so a left-out "
     "job is predicted by what others of unknown size do. Some setups stand several times with "
     "different figures (a distinguishing column was lost), efficientnet above all."),
    ("Iteration time: asynchronous parameter servers", CMDARE,
     "iteration --format cmdare --train @cmdare/speed_by_cluster_size.csv "
     "@cmdare/single_worker_base.csv @cmdare/single_worker_speed.csv --split max-gpus=4",
     ["perfect"], "Trained on up to 4 workers, tested on 5 to 8."),
    ("The same for jobs never seen", CMDARE,
     "iteration --format cmdare --train @cmdare/speed_by_cluster_size.csv "
     "@cmdare/single_worker_base.csv @cmdare/single_worker_speed.csv "
     "--split leave-one-job-out", ["perfect"], "Two jobs only, each predicted from the other."),
    ("All-reduce by message size", NCCL,
     "collective --train @nccl_aws/all_reduce.csv --split sizes", ["alpha-beta", "bandwidth"],
     "Trained on sizes below 1 MiB and from 64 MiB, tested between. Three forms of the law were "
     "looked at on these very rows before one was kept, so this is not a blind score."),
    ("Steps to a level at other batch sizes", RUNS,
     "convergence --format pollux --train @pollux/convergence.csv --split leave-one-batch-out",
     ["constant-steps", "constant-samples", "scavenger", "adascale"],
     "Each run is predicted from the other batches of its job and from all other jobs. The level "
     "of a job is 0.98 of the worst of the best metrics that those runs reach (over 0.98 where lower "
     "is better); the error is of optimizer steps to it. bert and ncf reach it within five epochs, "
     "too few to say when, and are not in the means; deepspeech2 and yolov3 have one run here. "
     "Nine runs are few, and the priors were set with these runs in view, so this is not a blind "
     "score."),
    ("What fits into memory", GAVEL,
     "memory --train @gavel/packed_pairs.csv @gavel/isolated.csv --split leave-one-device-out",
     ["plain"],
     "Jobs and pairs of jobs on a GPU; the error is the share of wrong verdicts, `plain` says that "
     "everything fits. P100 has a single pair that does not fit. The width of the verdicts was "
     "chosen with these scores in view."),
    ("Peak memory of plans", SAILOR,
     "memory --train @sailor/plan_iteration_times.csv --layers @sailor/layer_sizes.csv "
     "--split leave-one-job-out", ["plain"],
     "`plain` is 16 bytes a parameter and 2 an activation. The two clusters differ six-fold in "
     "bytes per activation; the spread allowed for that was widened after seeing the scores."),
]

# The same for plans; all policies are in one answer.
PLAN_SECTIONS = [
    ("Plans: larger clusters of known jobs", POLLUX,
     "plan --format pollux --train @pollux/step_times.csv --split max-gpus=6",
     "Trained on up to 6 GPUs, choosing among 7 to 14. The aim was a mean regret of 9 % with 95 % "
     "of deadlines met, and it is missed. One node more or less is a third to a half of the cost, "
     "so an error of a few percent near a deadline costs that much."),
    ("Plans: jobs never seen on a cluster", POLLUX,
     "plan --format pollux --train @pollux/step_times.csv --split leave-one-job-out",
     "How far predictions of left-out jobs fall short of their intervals is measured on the "
     "training jobs, two of which have rows on several nodes. This was added after a first score "
     "with plain intervals (regret 22.4 %, 95.8 % met), and four forms of it were looked at on "
     "these very rows, so this is not a blind score; and there are only three jobs."),
]


def validate(stint, data, arguments, extra=()):
    """Returns the JSON of one `stint validate`."""
    words = [str(data / word[1:]) if word.startswith("@") else word for word in arguments.split()]
    command = [stint, "validate", *words, "-o", "json", "-q", *extra]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def percent(value):
    return "" if value is None else f"{100 * value:.1f} %"


def lines_of(validation):
    """Yields (name, score) for jobs, their mean and all rows."""
    yield from sorted(validation["jobs"].items())
    if len(validation["jobs"]) > 1:
        yield "**mean over jobs**", validation["mean_over_jobs"]
    yield "all rows", validation["overall"]


def table(ours, baselines):
    head = ["", "n", "mean", "median", "90th", "in 80 %", "interval score"]
    head += [f"{name} mean" for name, _ in baselines]
    rows = [head, ["---"] + ["---:"] * (len(head) - 1)]
    others = [dict(lines_of(validation)) for _, validation in baselines]
    for name, score in lines_of(ours):
        if score["n"] == 0:
            continue
        row = [name, str(score["n"])]
        row += [percent(score[key]) for key in ("mape", "median_ape", "p90_ape")]
        row.append(percent(score.get("coverage80")))
        interval = score.get("interval_score")
        row.append("" if interval is None else f"{interval:.2f}")
        row += [percent(other[name]["mape"]) for other in others]
        rows.append(row)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def placements(ours, baselines):
    """The same rows by placement, and how far repeated measurements differ."""
    lines = []
    for name, score in sorted(ours.get("groups", {}).items()):
        beside = "".join(f", {model} {percent(other['groups'][name]['mape'])}"
                         for model, other in baselines if name in other.get("groups", {}))
        coverage = score.get("coverage80")
        inside = "" if coverage is None else f", {percent(coverage)} in the interval"
        lines.append(f"- {name}: n {score['n']}, mean {percent(score['mape'])}, median "
                     f"{percent(score['median_ape'])}{inside}{beside}")
    repeats = ours.get("repeats")
    if repeats:
        lines.append(f"- measuring {repeats['n']} rows again: {percent(repeats['mape'])} off on "
                     "average")
    return "\n".join(lines) + "\n" if lines else ""


def plan_table(validation):
    """Our plans by job, and each other policy's mean regret and share of deadlines met."""
    others = [name for name in sorted(validation["policies"]) if name != "stint"]
    head = ["", "n", "mean regret", "90th", "deadlines met", *others]
    rows = [head, ["---"] + ["---:"] * (len(head) - 1)]

    def add(name, score_of):
        score = score_of(validation["policies"]["stint"])
        row = [name, str(score["n"])]
        row += [percent(score[key]) for key in ("mean_regret", "p90_regret", "deadlines_met")]
        for other in others:
            theirs = score_of(validation["policies"][other])
            row.append(f"{percent(theirs['mean_regret'])} ({percent(theirs['deadlines_met'])})")
        rows.append(row)

    for job in sorted(validation["jobs"]):
        add(job, lambda policy, job=job: policy["jobs"][job])
    add("all decisions", lambda policy: policy["overall"])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def plans(stint, data):
    """The sections on plans under deadlines."""
    parts = []
    for heading, source, arguments, remark in PLAN_SECTIONS:
        print(heading, file=sys.stderr)
        shown = arguments.replace("@", "$STINT_DATA/")
        parts += [f"## {heading}\n", f"{source}\n", f"```sh\nstint validate {shown}\n```\n",
                  plan_table(validate(stint, data, arguments)) + "\n",
                  "A decision is a job and batch per GPU under one of seven deadlines; its regret "
                  "is the real cost over that of the best choice that keeps the deadline, minus "
                  "one, where time past the deadline is charged twice. Of other policies: mean "
                  f"regret, and in brackets the share of deadlines met. {remark}\n"]
    return parts


def devices(stint, data):
    """The section on devices that were not measured, from the calibration's own error table."""
    files = ["gavel:@gavel/isolated.csv", "cmdare:@cmdare/single_worker_base.csv",
             "cmdare:@cmdare/single_worker_speed.csv"]
    command = [stint, "calibrate", "devices", "-q", "-o", "json", "--name", "devices", "--train"]
    command += [file.replace("@", f"{data}/") for file in files]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    record = json.loads(result.stdout)["accuracy"][0]
    shown = " ".join(file.replace("@", "$STINT_DATA/") for file in files)
    return ["## Times carried over to a GPU that was not measured\n", f"{GAVEL}\n", f"{CMDARE}\n",
            f"```sh\nstint calibrate devices --name devices --train {shown}\n```\n",
            f"{record['n']} pairs of GPUs with the same job and batch, jobs left out in turn: mean "
            f"{percent(record['mape'])}, median {percent(record['median_ape'])}, 90th "
            f"{percent(record['p90_ape'])}. The 80 % interval is made to hold eight in ten of these "
            "very pairs, so its coverage is no evidence. Profiling on the GPU itself is far "
            "better.\n"]


def main():
    stint, data, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    parts = ["# Accuracy\n",
             "Made by `make accuracy`; do not edit. Each table is what one command prints, with "
             "`$STINT_DATA` as the folder of the published tables. Error is |predicted - measured| "
             "/ measured. Splits are by job, cluster size or device, never random rows. *In 80 %* "
             "is the share of measurements inside the 80 % interval; the interval score charges "
             "for width as well, so smaller is better. Nothing is pooled over data sets.\n"]
    for heading, source, arguments, baselines, remark in SECTIONS:
        print(heading, file=sys.stderr)
        ours = validate(stint, data, arguments)
        others = [(name, validate(stint, data, arguments, ["--baseline", name]))
                  for name in baselines]
        shown = arguments.replace("@", "$STINT_DATA/")
        parts += [f"## {heading}\n", f"{source}\n", f"```sh\nstint validate {shown}\n```\n",
                  table(ours, others) + "\n", placements(ours, others), remark + "\n"]
    parts += plans(stint, data)
    parts += devices(stint, data)
    out.write_text("\n".join(part for part in parts if part))


if __name__ == "__main__":
    main()
