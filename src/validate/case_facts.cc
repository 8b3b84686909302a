#include "validate/case_facts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "base/text.h"
#include "catalog/lookup.h"
#include "measure/tables/table_cells.h"

namespace stint {
namespace {

/// Parameters of a published architecture.
struct KnownModel {
  std::string_view name;  // Beginning of the name in a case.
  double parameters;
};

// Image classifiers and detectors: counts of torchvision's models (documentation of torchvision
// 0.15, table of weights). BERT: Devlin et al. 2019; CoCa: open_clip's table of models (2023-03).
// Longer names stand before their beginnings.
constexpr std::array kKnownModels = {
    KnownModel{"resnet-50", 25.56e6},    KnownModel{"resnet-101", 44.55e6},
    KnownModel{"resnet-152", 60.19e6},   KnownModel{"vgg-16", 138.36e6},
    KnownModel{"inception v3", 23.83e6}, KnownModel{"alexnet", 61.10e6},
    KnownModel{"faster r-cnn", 41.76e6}, KnownModel{"mask r-cnn", 44.40e6},
    KnownModel{"bert-large", 340e6},     KnownModel{"bert-base", 110e6},
    KnownModel{"bert (hugging", 110e6},  KnownModel{"coca vit-l/14", 638.5e6}};

/// What a benchmark does when no batch is given.
struct DefaultBatch {
  std::string_view task;   // Part of the task.
  std::string_view model;  // Beginning of the model's name; empty: any.
  int batch;
  std::string_view of;
};

// tf_cnn_benchmarks: default_batch_sizes of its resnet_model.py. Horovod: the --batch-size of
// examples/pytorch_synthetic_benchmark.py. transformers 2: --per_gpu_train_batch_size.
// NVIDIA's MXNet example: the batch sizes of its benchmark section by precision.
constexpr std::array kDefaultBatches = {
    DefaultBatch{"tf_cnn_benchmarks", "resnet-50", 64, "the default of tf_cnn_benchmarks"},
    DefaultBatch{"tf_cnn_benchmarks", "resnet-101", 32, "the default of tf_cnn_benchmarks"},
    DefaultBatch{"synthetic benchmark", "", 32, "the default of Horovod's synthetic benchmark"},
    DefaultBatch{"language model fine-tune", "", 4, "the default of transformers' script"},
    DefaultBatch{"NVIDIA DGX", "resnet-50", 192, "usual for NVIDIA's MXNet example"}};

/// Samples of a pass over a data set, by the task's words for it.
struct KnownData {
  std::string_view name;
  double samples;
};

// ImageNet: Russakovsky et al. 2015. COCO train2017: cocodataset.org. WikiText-103: 117.9 M tokens
// of GPT-2's vocabulary in blocks of 512.
constexpr std::array kKnownData = {KnownData{"imagenet", 1281167}, KnownData{"coco", 118287},
                                   KnownData{"wikitext-103", 230313}};

/// A remark of the collectors on a publisher's figures.
struct CaseWarning {
  std::string_view group;
  std::string_view model;  // Beginning of the model's name; empty: any.
  std::string_view text;
};

// PROVENANCE.md of the published cases, section Quirks (2026-11-17).
constexpr std::array kWarnings = {
    CaseWarning{"hvd396", "", "the post complains about bad scaling"},
    CaseWarning{"hvd2581", "", "the post complains about bad scaling"},
    CaseWarning{"hf3707", "", "the post complains about bad scaling"},
    CaseWarning{"openclip466", "", "the post complains about bad scaling"},
    CaseWarning{"lambda", "bert-base", "8 GPUs are far above 8 times one: suspect"},
    CaseWarning{"dawn-ali", "", "an epoch includes validation"}};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The word before `word` as a number: 12 in "COCO 12 epochs" for "epochs".
std::optional<double> number_before(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const auto words = split(trim(text.substr(0, at)), ' ');
  return words.empty() ? std::nullopt : positive_of(words.back());
}

/// The parameters of "GPT 498M (hidden 1536, 16 layers)".
std::optional<double> parameters_in_name(std::string_view model) {
  for (const std::string& word : split(model, ' ')) {
    if (!word.ends_with('M')) continue;
    if (const auto millions = positive_of(word.substr(0, word.size() - 1))) return 1e6 * *millions;
  }
  return std::nullopt;
}

std::optional<double> known_parameters(const std::string& model) {
  const std::string lower = to_lower(model);
  for (const KnownModel& known : kKnownModels) {
    if (lower.starts_with(known.name)) return known.parameters;
  }
  return parameters_in_name(model);
}

/// "25 Gbit/s", "100Gbps": the last rate before `end` of the text.
std::optional<BytesPerSecond> rate_in(std::string_view text) {
  for (const std::string_view unit : {"Gbit/s", "Gbps", "Gb/sec", "Gb/s"}) {
    const std::size_t at = text.find(unit);
    if (at == std::string_view::npos) continue;
    std::string_view before = trim(text.substr(0, at));
    std::size_t digits = before.size();
    while (digits > 0 && (is_digit(before[digits - 1]) || before[digits - 1] == '.')) --digits;
    const auto rate = positive_of(before.substr(digits));
    if (rate) return *rate * kGbit / kSecond;
  }
  return std::nullopt;
}

std::optional<BytesPerSecond> stated_rate(std::string_view text) {
  const std::size_t nominal = text.find("nominal,");
  if (nominal != std::string_view::npos) return rate_in(text.substr(nominal));
  return rate_in(text);
}

std::optional<Transport> stated_transport(const PublishedCase& it) {
  const std::string& text = it.network;
  if (has(text, "TCP") || has(text, "VPC") || has(text, "observed")) return Transport::kTcp;
  if (has(text, "RDMA")) return Transport::kRoce;
  if (has(text, "InfiniBand")) return Transport::kInfiniBand;
  // Servers of TensorFlow speak gRPC, whatever the NIC can.
  if (has_servers(it) && has(text, "RoCE-capable")) return Transport::kTcp;
  return std::nullopt;
}

/// 16 of "V100-16GB".
std::optional<Bytes> stated_memory(std::string_view gpu) {
  for (const std::string& part : split(gpu, '-')) {
    if (!part.ends_with("GB")) continue;
    if (const auto size = positive_of(part.substr(0, part.size() - 2))) return *size * kGB;
  }
  return std::nullopt;
}

/// 8 of "8x V100 PCIe" and of "DGX-1 (8x P100)"; nothing of "gn6e.24xlarge" and "k80x8".
std::optional<int> stated_count(std::string_view machines) {
  for (std::size_t at = 1; at < machines.size(); ++at) {
    if (machines[at] != 'x' || !is_digit(machines[at - 1])) continue;
    std::size_t from = at;
    while (from > 0 && is_digit(machines[from - 1])) --from;
    const bool word = from == 0 || machines[from - 1] == ' ' || machines[from - 1] == '(';
    if (word) return count_of(machines.substr(from, at - from));
  }
  return std::nullopt;
}

VmType made_type(const Gpu& gpu, const PublishedCase& it) {
  const int spread = it.workers.value_or(1) / std::max(1, it.vms.value_or(1));
  const int count = std::max({1, spread, stated_count(it.machines).value_or(1)});
  return {.provider = "published",
          .name = fmt::format("{}x-{}", count, gpu.name),
          .accelerator = Accelerator{.name = gpu.name, .count = count, .gpu = gpu.name}};
}

/// Puts what the case states over the network of the type.
void state_network(VmType& type, const PublishedCase& it, std::string& assumed) {
  const Network stated = stated_network(it);
  Network network = type.network.value_or(Network{});
  if (stated.baseline) {
    network.baseline = stated.baseline;
    network.peak.reset();
    network.rdma.reset();
  }
  if (stated.transport) {
    network.transport = stated.transport;
    network.rdma.reset();
    if (*stated.transport == Transport::kTcp) type.efa_interfaces.reset();
  } else if (it.vms.value_or(1) > 1 && network.transport != Transport::kTcp) {
    assumed = network.transport
                  ? fmt::format("the transport is not stated, {} of the VM type is assumed",
                                name_of(*network.transport))
                  : "the transport is not stated";
  }
  const bool known = network.baseline || network.peak || network.transport;
  if (known) type.network = network;
}

}  // namespace

std::string warning_about(const PublishedCase& it) {
  const std::string model = to_lower(it.model);
  for (const CaseWarning& known : kWarnings) {
    if (it.group == known.group && model.starts_with(known.model)) return std::string(known.text);
  }
  return "";
}

bool has_servers(const PublishedCase& it) {
  return has(it.framework, "parameter servers") || has(it.task, "kvstore dist");
}

bool servers_get_sums(const PublishedCase& it) {
  // TensorFlow's distributed_replicated, and MXNet's stores whose name holds "device".
  return has(it.framework, "parameter servers on the workers") || has(it.task, "dist_device");
}

std::optional<CaseFact<Bytes>> gradients_of(const PublishedCase& it) {
  constexpr std::string_view kStated = "model size stated ";
  const std::size_t stated = it.note.find(kStated);
  if (stated != std::string::npos) {
    const auto words = split(std::string_view(it.note).substr(stated + kStated.size()), ' ');
    const auto size = positive_of(words.front());
    if (size && words.size() > 1 && words[1].starts_with("MB")) return {{*size * kMB}};
  }
  const Bytes width = (it.precision == "fp16" ? 2 : 4) * kByte;
  if (it.parameters) return {{*it.parameters * width}};
  const auto parameters = known_parameters(it.model);
  if (!parameters) return std::nullopt;
  return {{*parameters * width}};
}

std::optional<CaseFact<int>> batch_of(const PublishedCase& it) {
  if (it.batch_per_worker) return {{*it.batch_per_worker}};
  if (it.global_batch) return std::nullopt;  // The layout decides it, see validate_cases.
  const std::string model = to_lower(it.model);
  for (const DefaultBatch& known : kDefaultBatches) {
    if (!has(it.task, known.task) || !model.starts_with(known.model)) continue;
    return {{known.batch,
             fmt::format("the batch is not stated, {} is assumed ({})", known.batch, known.of)}};
  }
  return std::nullopt;
}

std::optional<double> samples_to_train(const PublishedCase& it) {
  if (const auto steps = number_before(it.task, " steps")) {
    if (!it.global_batch) return std::nullopt;
    return *steps * *it.global_batch;
  }
  const std::string task = to_lower(it.task);
  const bool once = has(task, "one epoch") || has(task, "one pass");
  const auto epochs = once ? std::optional(1.0) : number_before(task, " epochs");
  if (!epochs) return std::nullopt;
  for (const KnownData& known : kKnownData) {
    if (has(task, known.name)) return *epochs * known.samples;
  }
  return std::nullopt;
}

Network stated_network(const PublishedCase& it) {
  // "not stated (p3.16xlarge: 25 Gbit/s)" gives the VM type's figure, which the catalogue has.
  if (it.network.starts_with("not stated")) return {};
  return {.baseline = stated_rate(it.network), .transport = stated_transport(it)};
}

const Gpu* gpu_of_case(const Catalog& catalog, const PublishedCase& it) {
  std::string family = it.gpu.substr(0, it.gpu.find_first_of("- "));
  if (family == "Pascal") family = "P100";
  const auto memory = stated_memory(it.gpu);
  const bool pcie = has(it.gpu, "PCIe") || has(it.machines, "PCIe") || it.gpu.starts_with("Pascal");
  const Gpu* found = nullptr;
  for (const Gpu& gpu : catalog.gpus) {
    if (!names_family(gpu.name, family)) continue;
    if (memory && gpu.memory && *gpu.memory != *memory) continue;
    const bool fits = has(gpu.name, "PCIe") == pcie;
    if (found == nullptr || (fits && has(found->name, "PCIe") != pcie)) found = &gpu;
  }
  return found;
}

Result<CaseFact<VmType>> vm_type_of(const Catalog& catalog, const PublishedCase& it) {
  CaseFact<VmType> fact;
  const auto known = find_type(catalog, {.provider = {}, .region = {}, .name = it.machines});
  if (known.ok()) {
    fact.value = **known;
  } else {
    const Gpu* gpu = gpu_of_case(catalog, it);
    if (gpu == nullptr) {
      return bad_input(fmt::format("the catalogue has no GPU '{}'", printable(it.gpu)));
    }
    fact.value = made_type(*gpu, it);
  }
  state_network(fact.value, it, fact.assumed);
  return fact;
}

}  // namespace stint
