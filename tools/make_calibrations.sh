#!/bin/bash
# Fits the calibrations of data/calibration to the published tables.
# Usage: make_calibrations.sh STINT DATA_FOLDER
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
stint=$1
data=$2

# calibrate NAME FORMAT "FLAGS OF THE NETWORK" PROVENANCE FILE…
calibrate() {
  local name=$1 format=$2 network=$3 provenance=$4
  shift 4
  echo "$name"
  # shellcheck disable=SC2086  # The flags are words.
  "$stint" calibrate fabric -q --format "$format" --name "$name" --provenance "$provenance" \
    $network --out "data/calibration/$name.json" --train "$@" >/dev/null
}

calibrate aws-tcp pollux "--network 50Gbit/s --transport tcp --inside pcie" \
  "github.com/petuum/adaptdl at c793c7089bd3 (Pollux, OSDI'21): AWS g4dn.12xlarge" \
  "$data/pollux/step_times.csv"
calibrate gavel gavel "" "github.com/stanford-futuredata/gavel at c4fa40097339 (Gavel, OSDI'20): K80, P100, V100" \
  "$data/gavel/isolated.csv"
calibrate gcp-parameter-server cmdare "--transport tcp" \
  "github.com/cake-lab/CM-DARE at 263b7f14951c (CM-DARE, ICDCS'20): K80 and P100 on Google Cloud" \
  "$data"/cmdare/{speed_by_cluster_size,single_worker_base,single_worker_speed}.csv
calibrate nvidia-dgx nvidia "--transport rdma --inside nvlink" \
  "github.com/NVIDIA/DeepLearningExamples at 729963dd47e7: DGX machines" \
  "$data/nvidia_dle/training_throughput.csv"
echo devices
"$stint" calibrate devices -q --name devices --out data/calibration/devices.json --provenance \
  "github.com/stanford-futuredata/gavel at c4fa40097339; github.com/cake-lab/CM-DARE at 263b7f14951c; github.com/petuum/adaptdl at c793c7089bd3; github.com/ml-energy/zeus at 75a8b9398034; github.com/mlcommons/training_results_v2.1 to v4.1" \
  --train "gavel:$data/gavel/isolated.csv" "cmdare:$data/cmdare/single_worker_base.csv" \
  "cmdare:$data/cmdare/single_worker_speed.csv" "pollux:$data/pollux/step_times.csv" \
  "zeus:$data/zeus/epoch_times.csv" "mlperf:$data/mlperf_modern/clusters.csv" >/dev/null
echo collectives
"$stint" calibrate collective -q --name collectives --out data/calibration/collectives.json \
  --provenance "github.com/aliyun/SimAI at cef83f9ddd96; github.com/stas00/ml-engineering at 744d01e18b79; github.com/microsoft/SuperScaler at fa80ad02c1dc (Aceso, EuroSys'24); github.com/VIA-Research/vTrain at f8dda8473a48 (MICRO'24); github.com/awslabs/awsome-distributed-training at 0edaf1526bc4" \
  --train "$data"/collectives/{simai_efficiency,ml_engineering_allreduce_ccbysa,aceso_v100_in_node}.csv \
  "$data/vtrain/allreduce_in_node.csv" "$data/nccl_aws/all_reduce.csv" >/dev/null
echo device-model
"$stint" calibrate device-model -q --name device-model --out data/calibration/device-model.json \
  --provenance "github.com/sitar-lab/NeuSight at 6945927d9afc (NeuSight, ASPLOS'25)" \
  --train "$data"/neusight/{latency,gpus,models}.csv >/dev/null
echo free-sharing
"$stint" calibrate sharing -q --name free-sharing --out data/calibration/free-sharing.json \
  --provenance "github.com/stanford-futuredata/gavel at c4fa40097339 (Gavel, OSDI'20): K80, P100, V100" \
  --train "$data/gavel/packed_pairs.csv" "$data/gavel/isolated.csv" >/dev/null
# What is believed of spot machines that no band is known of: Google's, since AWS has bands. Of the
# traces those in which the operator's own changes cannot be taken for losses.
echo spot
google=$(mktemp --suffix=.csv)
trap 'rm -f "$google"' EXIT
grep -v '^aws,' "$data/spot_dime2020/gpu_vm_lifetimes.csv" >"$google"
"$stint" risk fit -q --name spot --out data/calibration/spot.json --provenance \
  "lifetimes: github.com/stanford-futuredata/training_on_a_dime at 85f659572ff9 (DISPA'20), GPU VMs of Google, March 2020; losses together: github.com/uclasystem/bamboo at 808092932894 (NSDI'23), AWS p2 and p3, 2020" \
  "$google" "$data"/spot_traces_bamboo/aws_*.csv >/dev/null
# How spot prices move; what is believed of years stays as it is in the shipped file.
echo spot-prices
"$stint" calibrate prices -q --name spot-prices --out data/calibration/spot-prices.json --provenance \
  "github.com/stanford-futuredata/training_on_a_dime at 85f659572ff9 (DISPA'20): AWS p2 and p3, Azure NC" \
  --train "$data"/spot_dime2020/{aws,azure}_spot_prices.csv >/dev/null
