#!/usr/bin/python3
"""Bounds the processor time of one training image, data/calibration/image-input.json.

  tools/make_image_input.py DATA OUT

DATA holds the tables muri, published_cases and catalog. No published row measures the time that a
vCPU spends on reading, decoding and augmenting an image of ImageNet, so it is bounded:

- from below by Muri's stage of data. At least one vCPU of a worker is busy during that stage, so an
  image takes at least (stage / images of a batch). Of each network the median over 1 to 8 GPUs, and
  of these the median. Where the stage waits for the storage, the bound is too high.
- from above by trainings on real images on all GPUs of a VM: however the vCPUs are kept busy, an
  image takes at most (vCPUs / images per second). Of each source the least, and of these the least.
  Left out are synthetic data, images that were made smaller before or during training, and rows
  whose VM type, speed or epochs are not stated.

The value that plans use is the geometric mean of both bounds. The bounds of all sources are kept, so
that `stint validate cases` can leave out the source of the row that it predicts.
"""

import csv
import datetime
import json
import statistics
import sys

IMAGENET = 1281167
NETWORKS = ("resnet18", "shufflenet_v2_x1_0", "vgg16", "vgg19")


def table(data, path):
    return csv.DictReader(open(f"{data}/{path}", encoding="utf-8"))


def lower(data):
    """The bound from below, with its rows and the medians by network."""
    times = {}
    for row in table(data, "muri/stage_times.csv"):
        if row["model"] in NETWORKS:
            one = float(row["stage_data_ms"]) / 1e3 / float(row["batch_per_gpu"])
            times.setdefault(row["model"], []).append(one)
    medians = {name: statistics.median(all_) for name, all_ in times.items()}
    rows = sum(len(all_) for all_ in times.values())
    return statistics.median(medians.values()), rows, medians


def speed_of(row):
    """Images per second, or None where they do not follow from the row."""
    value = float(row["value"])
    if row["metric"] == "samples_per_s":
        return value
    if row["metric"] == "iteration_s" and row["global_batch"].isdigit():
        return int(row["global_batch"]) / value
    words = row["task"].replace(",", "").split()
    if row["metric"] == "time_to_train_s" and words[-1] == "epochs":
        return float(words[-2]) * IMAGENET / value
    return None


def upper(data):
    """The bound from above of each source, and the number of rows."""
    types = {row["instance_type"]: row for row in table(data, "catalog/instances.csv")
             if row["accelerator_count"]}
    least, rows = {}, 0
    for row in table(data, "published_cases/cases.csv"):
        vm = types.get(row["machines"])
        task = row["task"].lower()
        smaller = "progressive" in task or "FFCV" in row["framework"]
        if not vm or "imagenet" not in task or "synthetic" in task or smaller:
            continue
        speed = speed_of(row)
        gpus = int(row["nodes"]) * int(float(vm["accelerator_count"]))
        if speed is None or int(row["gpus"]) != gpus:
            continue
        group = row["id"].rsplit("-", 1)[0]
        bound = int(row["nodes"]) * int(vm["vcpus"]) / speed
        least[group] = min(bound, least.get(group, bound))
        rows += 1
    return least, rows


def main():
    data, out = sys.argv[1:]
    low, low_rows, by_network = lower(data)
    groups, high_rows = upper(data)
    high = min(groups.values())
    if low >= high:
        sys.exit(f"make_image_input: the bounds contradict each other: {low} s, {high} s")
    networks = ", ".join(f"{name} {1e3 * time:.1f} ms" for name, time in by_network.items())
    sources = ", ".join(f"{name} {1e3 * time:.1f} ms" for name, time in sorted(groups.items()))
    constants = [("low", "image input", low)]
    constants += [("high", f"image input: {name}", groups[name]) for name in sorted(groups)]
    document = {
        "schema": "stint.calibration/1",
        "name": "image-input",
        "date": str(datetime.date.today()),
        "constants": [
            {"name": name, "scope": scope, "value": float(f"{value:.4g}"), "unit": "s",
             "identified": False} for name, scope, value in constants],
        "data": [
            {"name": "image input low", "rows": low_rows, "provenance":
             "Muri (SIGCOMM'22), stage of data over batch, at least one vCPU busy; medians over 1 "
             f"to 8 V100: {networks}; that the stage is the data's is inferred by the table"},
            {"name": "image input high", "rows": high_rows, "provenance":
             "published trainings on real images of ImageNet on all GPUs of a VM: vCPUs over "
             f"images per second, the least of each source: {sources}"}],
    }
    lines = ",\n".join("    " + json.dumps(one) for one in document.pop("constants"))
    sets = ",\n".join("    " + json.dumps(one) for one in document.pop("data"))
    head = json.dumps(document, indent=2)[:-2]
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'{head},\n  "constants": [\n{lines}\n  ],\n  "data": [\n{sets}\n  ]\n}}\n')
    print(f"low {1e3 * low:.2f} ms (n {low_rows}), high {1e3 * high:.2f} ms (n {high_rows}), "
          f"value {1e3 * (low * high) ** 0.5:.2f} ms")


if __name__ == "__main__":
    main()
