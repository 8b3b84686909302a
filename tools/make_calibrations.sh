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
echo sharded-memory
"$stint" calibrate memory -q --name sharded-memory --out data/calibration/sharded-memory.json \
  --provenance "github.com/bigscience-workshop/bigscience at 9e64edec2ad1; github.com/huggingface/nanotron at 2411b022a75f; github.com/pytorch/torchtitan at b5bcd76c66d0; github.com/eth-easl/sailor at cf2c8e3cc53c (SOSP'25)" \
  --train "bloom=$data/open_llm/bloom_jeanzay.csv" \
  "nanotron=$data/open_llm/nanotron_best_configs.csv" \
  "fsdp-tables=$data/open_llm/fsdp_tables.csv" "sailor=$data/sailor/plan_iteration_times.csv" \
  >/dev/null
echo device-model
"$stint" calibrate device-model -q --name device-model --out data/calibration/device-model.json \
  --provenance "github.com/sitar-lab/NeuSight at 6945927d9afc (NeuSight, ASPLOS'25)" \
  --train "$data"/neusight/{latency,gpus,models}.csv >/dev/null
echo sharded
"$stint" calibrate sharded -q --name sharded --out data/calibration/sharded.json --provenance \
  "github.com/VIA-Research/vTrain at f8dda8473a48; github.com/mosaicml/llm-foundry at 8c8dd48f7216; github.com/OpenLLM-France/Lucie-Training at c3b8b3a013a3; github.com/bigscience-workshop/bigscience at 9e64edec2ad1; github.com/huggingface/nanotron at 2411b022a75f; github.com/pytorch/torchtitan at b5bcd76c66d0; github.com/foundation-model-stack/fms-fsdp at 5a296afe42f9; github.com/AlibabaPAI/reconfigurable-dl-scheduler at 80e85248c65c; github.com/eth-easl/sailor at cf2c8e3cc53c; github.com/NVIDIA/NeMo at 8cfedd720346, NVIDIA-NeMo/Megatron-Bridge at 067f987df03b, NVIDIA/NeMo-Framework-Launcher at 26e42fa91d9e, NVIDIA/dgxc-benchmarking at c5c765f2684f" \
  --train "vtrain=$data/vtrain/single_node.csv" "vtrain=$data/vtrain/multi_node.csv" \
  "llm-foundry=$data/llm_foundry/mpt_throughput.csv" "lucie=$data/open_llm/lucie7b_jeanzay.csv" \
  "bloom=$data/open_llm/bloom_jeanzay.csv" "nanotron=$data/open_llm/nanotron_best_configs.csv" \
  "fsdp-tables=$data/open_llm/fsdp_tables.csv" "morphling=$data/morphling/plans_a800.csv" \
  "sailor=$data/sailor/plan_iteration_times.csv" "nemo=$data/nvidia_llm/config_throughput.csv" \
  "dgxc=$data/nvidia_llm/dgxc_step_times.csv" >/dev/null
echo free-sharing
"$stint" calibrate sharing -q --name free-sharing --out data/calibration/free-sharing.json \
  --provenance "github.com/stanford-futuredata/gavel at c4fa40097339 (Gavel, OSDI'20): K80, P100, V100" \
  --train "$data/gavel/packed_pairs.csv" "$data/gavel/isolated.csv" >/dev/null
# What is believed of spot machines that no band is known of: Google's, since AWS has bands. Each
# study counts once, whatever its machines: the 282 of 2020 are of two pools in one week, started
# again as soon as they were lost. Of the traces those in which the operator's own changes cannot be
# taken for losses.
echo spot
google=$(mktemp --suffix=.csv)
trap 'rm -f "$google"' EXIT
grep -v '^aws,' "$data/spot_dime2020/gpu_vm_lifetimes.csv" >"$google"
"$stint" risk fit -q --name spot --out data/calibration/spot.json --provenance \
  "pools of Google, each study once: github.com/kadupitiya/goog-preemption-data at b22f181e1edb (arXiv 1911.05160), VMs without GPU, 2019; github.com/stanford-futuredata/training_on_a_dime at 85f659572ff9 (DISPA'20), GPU VMs, March 2020; github.com/uclasystem/bamboo at 808092932894 (NSDI'23), V100, December 2021; Google's documentation (not opened), 5 to 15 % a day. Losses together: Bamboo, AWS p2 and p3, 2020" \
  "$google" "$data/preempt_google_vm/lifetimes.csv" data/measurements/spot/published_losses.csv \
  "$data"/spot_traces_bamboo/aws_*.csv >/dev/null
# How spot prices move; what is believed of years stays as it is in the shipped file.
echo spot-prices
"$stint" calibrate prices -q --name spot-prices --out data/calibration/spot-prices.json --provenance \
  "github.com/stanford-futuredata/training_on_a_dime at 85f659572ff9 (DISPA'20): AWS p2 and p3, Azure NC" \
  --train "$data"/spot_dime2020/{aws,azure}_spot_prices.csv >/dev/null
echo image-input
tools/make_image_input.py "$data" data/calibration/image-input.json >/dev/null
