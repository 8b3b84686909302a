#!/usr/bin/env python3
"""Writes data/catalog/*.json from the tables in $STINT_DATA/catalog.

Usage: STINT_DATA=<folder> tools/make_catalog.py [--check]

With --check nothing is written; the exit code is 1 if a file in data/catalog is not what the
tables give. A figure the tables do not have is absent from the output, never null and never 0.
"""

import argparse
import csv
import json
import os
import re
import sys
from pathlib import Path

SCHEMA = "stint.catalog/1"
TOOLS = Path(__file__).resolve().parent
OUTPUT = TOOLS.parent / "data" / "catalog"

# Each source: the repository on GitHub, what was read there, and the date its figures are of; with
# no date here, that of the commit. Commit and licence come from the tables' PROVENANCE.md.
SOURCES = {
    "aws-types": (
        "aws/karpenter-provider-aws", "instance type reference and bandwidth table", None),
    "aws-prices": ("aws/karpenter-provider-aws", "generated on-demand prices", "2026-07-20"),
    "aws-spot-advisor": ("alexei-led/spotinfo", "copy of the AWS spot advisor", "2025-07"),
    "gcp-types": ("Cyclenerd/google-cloud-compute-machine-types", "machine series", "2026-03"),
    "gcp-prices": (
        "cloudpilot-ai/karpenter-provider-gcp",
        "initial prices (read together with gcp-calculator)", "2026-08"),
    "gcp-calculator": (
        "Cyclenerd/google-cloud-pricing-cost-calculator", "machine and price table", "2026-08"),
    "gcp-gpu-prices": (
        "kubernetes/autoscaler",
        "GCE price of one attached GPU (added to the N1 price of gcp-prices)", "2026-08"),
    "azure-types": ("kubernetes/autoscaler", "Azure instance types", None),
    "azure-docs": ("MicrosoftDocs/azure-compute-docs", "virtual machine size pages", None),
    "azure-prices": (
        "Azure/karpenter-provider-azure", "generated on-demand prices", "2026-06-18"),
    # No single document stands behind the GPU figures, so this source has only a name.
    "gpu-datasheets": (
        None, "GPU figures read page by page; each GPU's evidence names what was read", None),
}

# Facts about networks that the tables lack, from pages of the providers: title, address, and the
# month in which the fact was written down here. The pages were named and not opened, which the
# title says.
NOT_OPENED = "(named from general knowledge, the page was not opened)"
PAGES = {
    "aws-network": (
        "Amazon EC2 User Guide, instance network bandwidth: one flow has 5 Gbit/s, and 10 Gbit/s in "
        f"a cluster placement group; Elastic Fabric Adapter: GPUDirect RDMA {NOT_OPENED}; which "
        "types have EFA is in aws-types",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth.html",
        "2026-11"),
    "gcp-network": (
        "Compute Engine, network bandwidth and GPUDirect of accelerator-optimised machine types "
        f"{NOT_OPENED}",
        "https://cloud.google.com/compute/docs/gpus/gpu-network-bandwidth", "2026-11"),
    "azure-network": (
        "Azure, names of sizes (the letter r: RDMA) and pages of the ND and NC series "
        f"{NOT_OPENED}",
        "https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions", "2026-11"),
}

# The limits of one TCP flow between two VMs: anywhere, and in a placement group.
AWS_FLOW = ("5 Gbit/s", "10 Gbit/s")

# Whether the NIC reads and writes GPU memory itself, where it is known.
GPU_DIRECT = (
    (r"(p4d|p4de|p5e|p5en|p6-b200|p6-b300)\..*|p5\.48xlarge", True),
    (r"(p3dn|g4dn)\..*", False),
    (r"a3-(highgpu|megagpu|ultragpu)-8g|a4-.*", True),
    (r"Standard_ND96(asr_v4|amsr_A100_v4|isr_H100_v5|isr_H200_v5)", True),
)

# The transports of GCP types, first match; types that no line matches are unknown.
GCP_TRANSPORTS = (
    (r"a3-highgpu-8g", "gpudirect-tcpx"),
    (r"a3-megagpu-8g", "gpudirect-tcpxo"),
    (r"(a3-ultragpu|a4)-.*", "roce"),
    (r"(a2|g2|n1|n2|c2|c3|e2)-.*", "tcp"),
)

# InfiniBand links of Azure sizes whose table row has the Ethernet rate: eight of 400 Gbit/s.
AZURE_RDMA = {
    "Standard_ND96isr_H200_v5": "3200 Gbit/s",
    "Standard_ND96isr_MI300X_v5": "3200 Gbit/s",
}

# The sources each file rests on. Some give no entry its id, because they back a single field.
FILE_SOURCES = {
    "aws": ["aws-types", "aws-prices", "aws-spot-advisor", "aws-network"],
    "gcp": ["gcp-types", "gcp-prices", "gcp-calculator", "gcp-gpu-prices", "gcp-network"],
    "azure": ["azure-types", "azure-docs", "azure-prices", "azure-network"],
    "gpus": ["gpu-datasheets", "aws-types", "azure-docs"],
}

SPOT_SOURCES = {"aws": "aws-spot-advisor", "gcp": "gcp-prices"}

# What the tables say about how a price came about; "listed" needs no remark in ours.
COMPOSED = "listed N1 + listed GPU attachment"
PRICE_KINDS = {
    "": None,
    "listed": None,
    COMPOSED: COMPOSED,
    "derived: on-demand x (1 - advisor savings)": "on-demand x (1 - advisor savings)",
}

# The spot advisor's buckets of the monthly interruption frequency. The last one has no upper end.
INTERRUPTION_BANDS = {
    "<5": (0, 0.05),
    "5-10": (0.05, 0.1),
    "10-15": (0.1, 0.15),
    "15-20": (0.15, 0.2),
    ">20": (0.2, None),
}

# AWS counts vCPU quotas per group of families; the first match on the family's letters wins.
QUOTA_CLASSES = [
    (r"g.*|vt", "G"),
    (r"p", "P"),
    (r"inf", "Inf"),
    (r"trn", "Trn"),
    (r"dl", "DL"),
    (r"[acdhimrtz]", "Standard"),
]

NO_LINK = "none (PCIe)"
GPU_FIGURES = [
    ("memory", "memory_gb", "GB"),
    ("memory_bandwidth", "memory_bandwidth_GBps", "GB/s"),
    ("fp32", "fp32_tflops", "TFLOP/s"),
    ("tf32", "tf32_tensor_tflops", "TFLOP/s"),
    ("fp16", "fp16_tensor_tflops_dense", "TFLOP/s"),
]
GPU_FIELDS = [name for name, _, _ in GPU_FIGURES] + ["link", "link_bandwidth", "pcie"]
# tools/gpu_boards.csv: figures of data sheets that gpu_specs.csv does not have.
BOARD_FIELDS = ["multiprocessors", "lanes_per_scheduler", "board_power_watts"]
AFTER_BOARD = ["evidence", "unverified"]

# The GPU table says in prose which figures nobody checked. Prose missing here stops the program,
# so that a new row cannot lose its warning.
UNVERIFIED_ALL = {"all": set(), "all else taken equal to T4": {"memory"}}
UNVERIFIED = {
    "fp32": "fp32",
    "fp32 at boost": "fp32",
    "host link": "pcie",
    "link": "link_bandwidth",
    "memory bandwidth": "memory_bandwidth",
    "memory bandwidth of this variant": "memory_bandwidth",
    "pcie": "pcie",
    "tensor": "fp16",
    "tensor (a little below that page)": "fp16",
    "tf32": "tf32",
    "the last digits of the memory bandwidth": "memory_bandwidth",
}

# Columns that describe the type and not its offer, so all regions must agree on them.
TYPE_COLUMNS = (
    "accelerator accelerator_count accelerator_memory_gb vcpus memory_gib network_gbps "
    "network_note ebs_or_disk_gbps local_nvme_gb efa_interfaces arch"
).split()


class BadInput(Exception):
    """The tables say something this program does not understand; the message says what."""


def require(condition, message):
    if not condition:
        raise BadInput(message)


def lookup(table, key, where):
    require(key in table, f"{where}: '{key}' is not known to tools/make_catalog.py; add it there.")
    return table[key]


def without_absent(entry):
    """Drops what is not known, so that unknown is always an absent key."""
    return {key: value for key, value in entry.items() if value not in (None, {}, [], "")}


def quantity(text, unit):
    """The figure in its shortest form with its unit, or nothing for a blank. The digits are those
    of the table, so no price is rounded. A zero would be an unknown in disguise."""
    if not text:
        return None
    is_figure = re.fullmatch(r"\d+(\.\d+)?", text) and float(text) > 0
    require(is_figure, f"'{text}' is not a figure above zero in {unit}; leave unknowns blank.")
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def count(text):
    if not text:
        return None
    require(re.fullmatch(r"[1-9]\d*", text), f"'{text}' is not a count; leave unknowns blank.")
    return int(text)


def read_table(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def read_repositories(provenance):
    """Commit, date and licence of each repository, from the list in PROVENANCE.md."""
    line = re.compile(r"^- (https://\S+) at commit (\w+) \((\S+)\); licence (\S+)$", re.MULTILINE)
    return {url: (commit, date, licence) for url, commit, date, licence in line.findall(provenance)}


def check_dates(provenance):
    """The dates above are written by hand, so a refreshed table must not keep the old ones."""
    stated = re.search(r"^- Dates: (.*)$", provenance, re.MULTILINE)
    require(stated, "PROVENANCE.md has no line that starts with '- Dates:'.")
    for identifier, (_, _, date) in SOURCES.items():
        known = date is None or date in stated.group(1)
        require(known, f"The Dates line of PROVENANCE.md lacks the date {date} of {identifier}.")


def source_entry(identifier, repositories):
    if identifier in PAGES:
        title, url, date = PAGES[identifier]
        return {"id": identifier, "name": title, "url": url, "date": date}
    repository, content, date = SOURCES[identifier]
    if repository is None:
        return {"id": identifier, "name": content}
    url = f"https://github.com/{repository}"
    commit, commit_date, licence = lookup(repositories, url, "PROVENANCE.md")
    return {
        "id": identifier,
        "name": f"{repository.split('/')[1]}, {content}",
        "url": url,
        "commit": commit,
        "licence": licence,
        "date": date or commit_date,
    }


def unverified_fields(row, present):
    """The names of our fields that the table's prose calls unverified, in the order of the file."""
    prose = row["unverified"]
    if not prose:
        return []
    if prose in UNVERIFIED_ALL:
        return [name for name in present if name not in UNVERIFIED_ALL[prose]]
    where = f"gpu_specs.csv, {row['gpu']}, unverified"
    named = {lookup(UNVERIFIED, part, where) for part in prose.split(", ")}
    require(named <= set(present), f"{where}: '{prose}' names a figure the row does not have.")
    return [name for name in present if name in named]


def board_entry(row):
    """Figures of the board of a GPU, which no page that was read here confirms."""
    return {name: int(row[name]) for name in BOARD_FIELDS if row[name]}


def gpu_entry(row, boards):
    entry = {"name": row["gpu"], "architecture": row["architecture"]}
    for name, column, unit in GPU_FIGURES:
        entry[name] = quantity(row[column], unit)
    entry["link"] = row["gpu_link"] if row["gpu_link"] != NO_LINK else None
    entry["link_bandwidth"] = quantity(row["gpu_link_GBps_total"], "GB/s")
    entry["pcie"] = row["pcie"]
    entry = without_absent(entry)
    present = [name for name in GPU_FIELDS if name in entry]
    entry["evidence"] = row["read_here"]
    board = boards.get(row["gpu"], {})
    entry["unverified"] = unverified_fields(row, present) + list(board)
    entry = {**{name: entry[name] for name in entry if name not in AFTER_BOARD}, **board,
             **{name: entry[name] for name in AFTER_BOARD}}
    return without_absent(entry)


def size_family(provider, name):
    """What the brackets of accelerator_to_gpu.csv select by: 'p4d' on AWS, 'NC' or 'ND' on Azure.
    Azure's NCC sizes are confidential NC sizes, so two letters are enough."""
    if provider == "aws":
        return name.split(".")[0]
    return name.removeprefix("Standard_")[:2] if provider == "azure" else ""


def read_gpu_names(folder, gpus):
    """From (provider, accelerator, size family or nothing) to the name of the GPU's figures."""
    table = "accelerator_to_gpu.csv"
    names = {}
    for row in read_table(folder, table):
        text, gpu = row["catalog_accelerator"], row["gpu_spec"]
        parts = re.fullmatch(r"(\S+)(?: \((\w+)\))?", text)
        require(parts, f"{table}: '{text}' is not a name, or a name and a family in brackets.")
        require(gpu in gpus, f"{table}: gpu_specs.csv has no figures for {gpu}.")
        names[row["provider"], parts[1], parts[2] or ""] = gpu
    return names


def gpu_name(row, gpu_names):
    """A line with brackets is the narrower rule and goes first."""
    provider, accelerator = row["provider"], row["accelerator"]
    family = size_family(provider, row["instance_type"])
    general = gpu_names.get((provider, accelerator, ""))
    return gpu_names.get((provider, accelerator, family), general)


def accelerator_entry(row, gpu_names):
    if not row["accelerator"]:
        return None
    return without_absent(
        {
            "name": row["accelerator"],
            "count": count(row["accelerator_count"]),
            "memory": quantity(row["accelerator_memory_gb"], "GB"),
            "gpu": gpu_name(row, gpu_names),
        }
    )


def rate_entry(row):
    """A baseline is what a VM can count on; a maximum is not. InfiniBand is a dedicated link, so
    its figure is a baseline. A note without a figure says nothing and is dropped."""
    figure = quantity(row["network_gbps"], "Gbit/s")
    if figure is None:
        return {}
    note = row["network_note"]
    if note == "baseline" or "InfiniBand" in note:
        return {"baseline": figure, "note": note}
    is_maximum = note in ("max egress", "Ethernet max")
    require(is_maximum, f"{row['instance_type']}: the network note '{note}' is not known.")
    return {"peak": figure, "note": note}


def first_match(rules, name):
    return next((value for form, value in rules if re.fullmatch(form, name)), None)


def transport_name(row):
    """The fastest transport between VMs. Azure's sizes with RDMA have an r among the letters that
    follow the number of processors."""
    name = row["instance_type"]
    if row["provider"] == "aws":
        return "efa" if row["efa_interfaces"] else "tcp"
    if row["provider"] == "gcp":
        # The tables do not say what a g4-standard is, and its network least of all.
        return first_match(GCP_TRANSPORTS, name)
    letters = re.match(r"Standard_[A-Z]+\d+([a-z]*)", name).group(1)
    return "infiniband" if "r" in letters else "tcp"


def network_entry(row):
    rate = rate_entry(row)
    name, note = row["instance_type"], rate.pop("note", None)
    transport = transport_name(row)
    require(
        "InfiniBand" not in (note or "") or transport == "infiniband",
        f"{name}: name and network note disagree on InfiniBand.",
    )
    aws = row["provider"] == "aws"
    direct = first_match(GPU_DIRECT, name)
    fabric = {
        "transport": transport,
        "rdma": AZURE_RDMA.get(name),
        "flow": AWS_FLOW[0] if aws else None,
        "flow_placed": AWS_FLOW[1] if aws else None,
        "note": note,
        "source": f"{row['provider']}-network" if transport else None,
    }
    entry = without_absent({**rate, **fabric})
    if direct is not None:
        entry["gpu_direct"] = direct
    order = "baseline peak transport rdma gpu_direct flow flow_placed note source".split()
    return {key: entry[key] for key in order if key in entry}


def quota_class(row):
    if row["provider"] != "aws":
        return None
    letters = re.match(r"[a-z]+", row["instance_type"]).group()
    return next((name for form, name in QUOTA_CLASSES if re.fullmatch(form, letters)), None)


def type_entry(row, gpu_names):
    return without_absent(
        {
            "provider": row["provider"],
            "name": row["instance_type"],
            "accelerator": accelerator_entry(row, gpu_names),
            "vcpus": count(row["vcpus"]),
            "memory": quantity(row["memory_gib"], "GiB"),
            "network": network_entry(row),
            "disk_bandwidth": quantity(row["ebs_or_disk_gbps"], "Gbit/s"),
            "local_disk": quantity(row["local_nvme_gb"], "GB"),
            "efa_interfaces": count(row["efa_interfaces"]),
            "architecture": row["arch"],
            "quota_class": quota_class(row),
            "source": f"{row['provider']}-types",
        }
    )


def price_entry(usd_per_hour, source, derived):
    price = quantity(usd_per_hour, "USD/h")
    if price is None:
        return None
    date = SOURCES[source][2]
    return without_absent({"price": price, "date": date, "source": source, "derived": derived})


def on_demand_entry(row, derived):
    """An N1 with GPUs attached has no price of its own, on demand no more than on spot."""
    if derived == COMPOSED:
        return price_entry(row["ondemand_usd_per_h"], "gcp-gpu-prices", derived)
    return price_entry(row["ondemand_usd_per_h"], f"{row['provider']}-prices", None)


def spot_entry(row, derived):
    if not row["spot_usd_per_h"]:
        return None
    listed = lookup(SPOT_SOURCES, row["provider"], "instances.csv, spot price of provider")
    source = "gcp-gpu-prices" if derived == COMPOSED else listed
    return price_entry(row["spot_usd_per_h"], source, derived)


def interruption_entry(row):
    band = row["spot_interruption_monthly_pct_range"]
    if not band:
        return None
    low, high = lookup(INTERRUPTION_BANDS, band, row["instance_type"])
    source = "aws-spot-advisor"
    entry = {"monthly_min": low, "monthly_max": high, "date": SOURCES[source][2], "source": source}
    return without_absent(entry)


def offer_entry(row):
    name = row["instance_type"]
    derived = lookup(PRICE_KINDS, row["spot_price_kind"], f"{name}, price kind")
    # The table states the kind of the spot price only; the name tells that both are composed.
    require(("+" in name) == (derived == COMPOSED), f"{name}: name and price kind disagree.")
    return without_absent(
        {
            "region": row["region"],
            "on_demand": on_demand_entry(row, derived),
            "spot": spot_entry(row, derived),
            "interruption": interruption_entry(row),
        }
    )


def check_bands(rows, folder):
    """The advisor's table is the original of the bands in instances.csv, so both must agree."""
    advisor = {
        (row["region"], row["instance_type"]): row["interruption_monthly_pct_range"]
        for row in read_table(folder, "aws_spot_advisor.csv")
    }
    for row in rows:
        region, name = row["region"], row["instance_type"]
        expected = advisor.get((region, name), "") if row["provider"] == "aws" else ""
        found = row["spot_interruption_monthly_pct_range"]
        require(
            found == expected,
            f"{name} in {region}: instances.csv has the interruption band '{found}', "
            f"aws_spot_advisor.csv has '{expected}'.",
        )


def check_same_type(rows):
    name = rows[0]["instance_type"]
    for column in TYPE_COLUMNS:
        values = {row[column] for row in rows}
        require(len(values) == 1, f"{name}: the regions disagree on {column}: {sorted(values)}.")
    regions = [row["region"] for row in rows]
    require(len(regions) == len(set(regions)), f"{name}: a region is listed twice.")


def type_with_offers(rows, gpu_names):
    check_same_type(rows)
    offers = [offer_entry(row) for row in sorted(rows, key=lambda row: row["region"])]
    return {**type_entry(rows[0], gpu_names), "offers": offers}


def provider_types(rows, provider, gpu_names):
    rows_of = {}
    for row in rows:
        if row["provider"] == provider:
            rows_of.setdefault(row["instance_type"], []).append(row)
    return [type_with_offers(rows_of[name], gpu_names) for name in sorted(rows_of)]


def one_line(value):
    return json.dumps(value, ensure_ascii=False)


def lines(values, indent):
    """One value per line, so that a changed price is one changed line."""
    return ",\n".join(" " * indent + one_line(value) for value in values)


def type_text(entry):
    """What the type is on one line, its machine on the next, then an offer per line."""
    identity = {key: entry[key] for key in ("provider", "name", "accelerator") if key in entry}
    machine = {key: entry[key] for key in entry if key not in identity and key != "offers"}
    return (
        f"  {one_line(identity)[:-1]},\n   {one_line(machine)[1:-1]},\n"
        f'   "offers": [\n{lines(entry["offers"], 4)}\n   ]}}'
    )


def file_text(sources, key, entries):
    return (
        f'{{\n "schema": "{SCHEMA}",\n "sources": [\n{lines(sources, 2)}\n ],\n'
        f' "{key}": [\n{entries}\n ]\n}}\n'
    )


def check_sources(text, listed):
    used = set(re.findall(r'"source": "([^"]+)"', text))
    require(used <= set(listed), f"A file uses the sources {sorted(used - set(listed))} unlisted.")


def catalog_texts(folder):
    """The text of every file, by its name."""
    provenance = (folder / "PROVENANCE.md").read_text(encoding="utf-8")
    check_dates(provenance)
    repositories = read_repositories(provenance)
    sources = {
        name: [source_entry(identifier, repositories) for identifier in identifiers]
        for name, identifiers in FILE_SOURCES.items()
    }
    boards = {row["gpu"]: board_entry(row) for row in read_table(TOOLS, "gpu_boards.csv")}
    gpus = {row["gpu"]: gpu_entry(row, boards) for row in read_table(folder, "gpu_specs.csv")}
    require(boards.keys() <= gpus.keys(), "gpu_boards.csv names a GPU that gpu_specs.csv lacks.")
    gpu_names = read_gpu_names(folder, gpus)
    rows = read_table(folder, "instances.csv")
    check_bands(rows, folder)

    gpu_lines = lines([gpus[name] for name in sorted(gpus)], 2)
    texts = {"gpus.json": file_text(sources["gpus"], "gpus", gpu_lines)}
    for provider in sorted({row["provider"] for row in rows}):
        types = provider_types(rows, provider, gpu_names)
        listed = lookup(FILE_SOURCES, provider, "instances.csv, provider")
        text = file_text(sources[provider], "types", ",\n".join(map(type_text, types)))
        check_sources(text, listed)
        texts[f"{provider}.json"] = text
    return texts


def stale_files(texts):
    def differs(name, text):
        path = OUTPUT / name
        return not path.is_file() or path.read_bytes() != text.encode("utf-8")

    return [name for name, text in sorted(texts.items()) if differs(name, text)]


def write_files(texts):
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (OUTPUT / name).write_bytes(text.encode("utf-8"))


def run(check):
    data = os.environ.get("STINT_DATA")
    require(data, "STINT_DATA is not set; point it at the folder that holds catalog/.")
    texts = catalog_texts(Path(data) / "catalog")
    if not check:
        write_files(texts)
        return
    stale = stale_files(texts)
    require(not stale, f"Not what the tables give: {', '.join(stale)}; run tools/make_catalog.py.")


def main():
    parser = argparse.ArgumentParser(description="Write data/catalog from $STINT_DATA/catalog.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    try:
        run(parser.parse_args().check)
    except (BadInput, OSError) as error:
        print(f"make_catalog: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
