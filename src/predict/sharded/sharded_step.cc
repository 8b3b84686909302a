#include "predict/sharded/sharded_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/check.h"

namespace stint {
namespace {

constexpr double kTile = 128;                 // Side of the tiles of large products.
constexpr double kMultiprocessorsUsual = 80;  // Where the figure is missing.
constexpr double kShareMax = 0.95;            // Of the peak: nothing reaches more.
constexpr FlopsPerSecond kFeedReference = 100 * kTeraflop / kSecond;

constexpr double kHeadMultiple = 8;       // Of 16-bit numbers that a tensor unit reads at once.
constexpr double kScorePasses = 8;        // Writes and reads of scores: softmax, mask, dropout.
constexpr double kStreamPasses = 14;      // As in models/model_shape.h.
constexpr double kPlainPasses = 3;        // Of the feed-forward values,
constexpr double kGatedPasses = 5;        // with a gate.
constexpr double kSweepBackward = 1.5;    // Gradients of a sweep read its input and its output.
constexpr double kFusedBackward = 2.5;    // Fused attention computes its scores again.
constexpr double kSelectiveSweeps = 0.3;  // Of the sweeps, beside attention (Korthikanti 2022).
constexpr double kCompiledSweeps = 0.5;   // Of the sweeps that are left when a compiler fuses them.
constexpr double kLossPasses = 5;         // Over FP32 logits: softmax, its gradient, copies.
constexpr Bytes kLogit = 4 * kByte;
// Read and written for a parameter by Adam with FP32 master weights: 16 bytes in, 14 out.
constexpr Bytes kUpdateBytes = 30 * kByte;
constexpr double kHostCrowding = 0.75;  // Power of the workers of a VM that update on its host.
constexpr double kLaunchPasses = 4;     // `launch` is of forward, backward (2) and recomputation.
// Of the exchange of keys and values in context parallelism that attention does not hide; an
// assumption, no published row separates it.
constexpr double kContextVisible = 0.3;

double soft_four(double a, double b) {
  const double a2 = a * a;
  const double b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

/// Rates in plain numbers: flop/s and byte/s.
struct Rates {
  double product;
  double attention;
  double sweep;
  double score;
  double inside;
  double network;
  double tile_flops;  // Arithmetic of one wave of tiles for each unit of depth.
};

Rates rates_of(const ShardedSetup& setup, const ShardedLaw& law) {
  const ShardedMachines& it = setup.machines;
  const double peak = it.device.peak.in(kFlop / kSecond);
  const double feed = std::pow(it.device.peak / kFeedReference, -law.feed);
  const double share = std::min(kShareMax, law.product * feed);
  const double bandwidth = it.device.bandwidth.in(kByte / kSecond);
  const double multiprocessors = it.device.multiprocessors.value_or(kMultiprocessorsUsual);
  const double attention_feed = std::pow(it.device.peak / kFeedReference, -law.attention_feed);
  return {.product = peak * share * (it.fp8 ? law.fp8_gain : 1),
          .attention = peak * share * law.attention * attention_feed,
          .sweep = bandwidth * law.sweep,
          .score = bandwidth * law.score,
          .inside = it.inside.in(kByte / kSecond) * law.inside_efficiency,
          .network = it.network.in(kByte / kSecond) * law.network_efficiency,
          .tile_flops = law.waves * multiprocessors * 2 * kTile * kTile};
}

/// All that the parts of a step share.
struct Step {
  Step(const ShardedSetup& it, const ShardedLaw& constants)
      : setup(it),
        law(constants),
        size(it.shape),
        rate(rates_of(it, constants)),
        tensor(it.layout.tensor),
        context(it.layout.context),
        data(it.layout.data),
        value(it.value.in(kByte)),
        samples(it.layout.micro_batch),
        length(size.tokens(it.sequence)),
        tokens(samples * length / context),
        per_vm(
            std::min<double>(it.machines.workers_per_vm, static_cast<double>(workers(it.layout)))),
        vms(static_cast<double>(workers(it.layout)) / per_vm),
        micro_batches(std::max(1.0, it.global_batch / (data * samples))) {}

  const ShardedSetup& setup;
  const ShardedLaw& law;
  const ShardedShape& size;
  Rates rate;
  double tensor;
  double context;
  double data;
  double value;
  double samples;
  double length;  // Tokens of a sample.
  double tokens;  // Of a micro-batch on one worker.
  double per_vm;
  double vms;
  double micro_batches;

  /// Replicas of a group that are in one VM, and the VMs that the group spans.
  double data_inside() const {
    return std::clamp(std::floor(per_vm / (tensor * context)), 1.0, data);
  }
  double data_vms() const { return data / data_inside(); }
};

/// Seconds of one product of `tokens` × `inputs` by `inputs` × `outputs`, which reads `copies` of
/// its weights.
double product_time(const Step& it, double tokens, double outputs, double inputs, double copies) {
  const double arithmetic =
      (2 * tokens * outputs * inputs + copies * it.rate.tile_flops * inputs) / it.rate.product;
  const double bytes =
      (tokens * (outputs + inputs) + copies * outputs * inputs) * it.value / it.rate.sweep;
  return soft_four(arithmetic, bytes);
}

/// Seconds of one layer and micro-batch on one worker, without collectives.
struct LayerCompute {
  double forward = 0;
  double backward = 0;
};

LayerCompute layer_compute(const Step& it) {
  const ShardedShape& size = it.size;
  const double local = std::max(1.0, size.experts / it.setup.layout.expert);
  const double routed = it.tokens * size.experts_used;
  const double products =
      size.attentions *
          (product_time(it, it.tokens, (size.query + 2 * size.kv) / it.tensor, size.hidden, 1) +
           product_time(it, it.tokens, size.hidden, size.query / it.tensor, 1)) +
      product_time(it, routed, size.gates * size.wide / it.tensor, size.hidden, local) +
      product_time(it, routed, size.hidden, size.wide / it.tensor, local);
  const bool fused = it.setup.fused_attention;
  const double share = fused && size.causal ? 0.5 : 1;
  const double squares = it.samples * it.length * it.length / it.context * size.attentions;
  const bool aligned = fused || std::fmod(size.query / size.heads, kHeadMultiple) == 0;
  const double attention = 4 * share * squares * size.query / it.tensor / it.rate.attention *
                           (aligned ? 1 : it.law.unaligned);
  const double scores =
      fused ? 0 : squares * size.heads / it.tensor * it.value * kScorePasses / it.rate.score;
  const double stream =
      kStreamPasses * size.attentions * size.hidden / (it.setup.layout.sequence ? it.tensor : 1);
  const double wide =
      (size.gates > 1 ? kGatedPasses : kPlainPasses) * size.experts_used * size.wide / it.tensor;
  const double sweeps = it.tokens * (stream + wide) * it.value / it.rate.sweep *
                        (it.setup.compiled ? kCompiledSweeps : 1);

  LayerCompute compute{.forward = products + attention + scores + sweeps};
  compute.backward = (it.setup.frozen_products ? 1 : 2) * products +
                     (fused ? kFusedBackward : 2) * attention + 2 * scores +
                     kSweepBackward * sweeps;
  if (it.setup.layout.recompute == Recompute::kFull) compute.backward += compute.forward;
  if (it.setup.layout.recompute == Recompute::kSelective) {
    compute.backward += attention + scores + kSelectiveSweeps * sweeps;
  }
  return compute;
}

/// Seconds of one all-reduce of `bytes` over `count` workers that are next to each other.
double all_reduce(const Step& it, double bytes, double count) {
  if (count <= 1) return 0;
  const double inside = std::min(count, it.per_vm);
  const double around = std::max(1.0, count / it.per_vm);
  double seconds = 0;
  if (inside > 1) {
    seconds += 2 * (inside - 1) / inside * bytes / it.rate.inside +
               2 * it.law.inside_latency * std::log2(inside);
  }
  if (around > 1) {
    seconds += 2 * (around - 1) / around * bytes / it.rate.network +
               2 * it.law.network_latency * std::log2(around);
  }
  return seconds;
}

/// Collectives in the way of one layer and micro-batch: forward and backward.
LayerCompute layer_collectives(const Step& it) {
  LayerCompute sum;
  const double stream = it.tokens * it.size.hidden * it.value;
  const bool again = it.setup.layout.recompute == Recompute::kFull;
  const double reduce = it.size.reductions * all_reduce(it, stream, it.tensor);
  sum.forward += reduce;
  sum.backward += (again ? 2 : 1) * reduce;
  if (it.context > 1) {
    const bool inside = it.tensor * it.context <= it.per_vm;
    const double keys = 2 * it.size.kv / it.tensor * it.samples * it.length * it.value;
    const double seconds = (it.context - 1) / it.context * keys * kContextVisible /
                           (inside ? it.rate.inside : it.rate.network / it.per_vm);
    sum.forward += seconds;
    sum.backward += 2 * seconds;
  }
  const double experts = it.setup.layout.expert;
  if (experts > 1) {
    const bool inside = experts * it.tensor <= it.per_vm;
    const double bytes = (experts - 1) / experts * stream / it.tensor * it.size.experts_used;
    const double seconds =
        it.law.all_to_all * bytes / (inside ? it.rate.inside : it.rate.network / it.per_vm) +
        (inside ? it.law.inside_latency : it.law.network_latency);
    sum.forward += 2 * seconds;
    sum.backward += (again ? 4 : 2) * seconds;
  }
  return sum;
}

/// Rate of a VM's network when `groups` of its workers, side by side, each have a collective of
/// their own: several rings fill a line better than one does, R · groups^rings within the line
/// rate.
double shared_network(const Step& it, double groups) {
  const double line = it.setup.machines.network.in(kByte / kSecond);
  return std::min(std::max(line, it.rate.network),
                  it.rate.network * std::pow(groups, it.law.rings));
}

/// Seconds of one gather of the sharded parameters of a layer.
double gather_time(const Step& it) {
  if (it.setup.layout.zero < 3 || it.data <= 1) return 0;
  const double bytes = it.size.layer_parameters / it.tensor * it.value * it.law.all_gather;
  const double inside = it.data_inside();
  const double vms = it.setup.layout.hybrid ? 1 : it.data_vms();
  double seconds = 0;
  if (inside > 1) {
    seconds =
        (inside - 1) / inside * bytes / it.rate.inside + it.law.inside_latency * std::log2(inside);
  }
  if (vms > 1) {
    const double groups = it.per_vm / inside;
    const double across = (vms - 1) / vms * bytes * groups / shared_network(it, groups) +
                          it.law.network_latency * std::log2(vms);
    seconds = std::max(seconds, across);
  }
  return seconds;
}

/// One layer and micro-batch with everything in its way.
struct LayerTimes {
  LayerCompute compute;
  LayerCompute collectives;
  double host = 0;     // Of launches that compute does not hide.
  double gathers = 0;  // Exposed.

  double forward() const {
    return compute.forward + collectives.forward + (host + gathers) * forward_share();
  }
  double backward() const {
    return compute.backward + collectives.backward + (host + gathers) * (1 - forward_share());
  }
  double total() const { return forward() + backward(); }

 private:
  double forward_share() const { return compute.forward / (compute.forward + compute.backward); }
};

LayerTimes layer_times(const Step& it) {
  LayerTimes times{.compute = layer_compute(it), .collectives = layer_collectives(it)};
  const double compute = times.compute.forward + times.compute.backward;
  const double passes =
      it.setup.layout.recompute == Recompute::kFull ? kLaunchPasses : kLaunchPasses - 1;
  const double busy = soft_four(compute, it.law.launch * passes / kLaunchPasses);
  times.host = busy - compute;
  const double gather = gather_time(it);
  if (gather <= 0) return times;
  // Twice gathered, forward and backward; gradients are scattered once, at their own width.
  const double moved = gather * (2 + it.setup.trained * (it.setup.gradient_value / it.setup.value));
  times.gathers = soft_four(busy, moved) - busy + it.law.gather_visible * std::min(moved, busy);
  return times;
}

/// What the last stage adds to a micro-batch: logits and loss, forward and backward.
double head_time(const Step& it) {
  if (it.size.vocabulary <= 0) return 0;
  const double rows = it.size.vocabulary / it.tensor;
  const double products = product_time(it, it.tokens, rows, it.size.hidden, 1);
  return (it.setup.frozen_products ? 2 : 3) * products +
         it.tokens * rows * kLogit.in(kByte)*kLossPasses / it.rate.sweep;
}

/// Seconds to send the activations of a micro-batch to the next stage.
double transfer_time(const Step& it) {
  if (it.setup.layout.pipeline <= 1) return 0;
  const double bytes = it.tokens * it.size.hidden * it.value * it.law.point_to_point;
  if (it.vms <= 1) return bytes / it.rate.inside + it.law.inside_latency;
  // Tensor ranks send a part each; all pipelines of a VM share its NIC.
  const double pipelines = std::max(1.0, it.per_vm / (it.tensor * it.context));
  return bytes * pipelines / it.rate.network + it.law.network_latency;
}

double gradient_bytes(const Step& it) {
  return it.size.worker_parameters(it.setup.layout) * it.setup.trained *
         it.setup.gradient_value.in(kByte);
}

/// Seconds of one reduction of all gradients, as if nothing hid it.
double reduction_time(const Step& it) {
  if (it.data <= 1) return 0;
  const bool gathered = it.setup.layout.zero >= 3;
  if (gathered && !it.setup.layout.hybrid) return 0;  // Scattered with each layer.
  const double bytes = gradient_bytes(it) * it.law.gradient;
  const double inside = it.data_inside();
  const double vms = it.data_vms();
  if (vms > 1) {
    const double groups = it.per_vm / inside;
    return 2 * (vms - 1) / vms * bytes * groups / shared_network(it, groups) +
           2 * it.law.network_latency * std::log2(vms);
  }
  if (gathered) return 0;
  return 2 * (inside - 1) / inside * bytes / it.rate.inside +
         2 * it.law.inside_latency * std::log2(inside);
}

/// What of it shows. ZeRO-2 reduces after every micro-batch and gathers parameters once; others
/// reduce after the last one.
double exposed_reduction(const Step& it, double backward) {
  const double reduction = reduction_time(it);
  if (reduction <= 0) return 0;
  const bool each = it.setup.layout.zero == 2;
  const double round = each ? reduction / 2 : reduction;
  const double rounds = each ? it.micro_batches : 1;
  double exposed = round;
  if (it.setup.overlaps_gradients) {
    // Sharded gradients leave layer by layer, so that all of the pass hides them.
    const double cover = (it.setup.layout.hybrid ? 1 : it.law.gradient_cover) * backward;
    exposed = soft_four(round, cover) - cover;
  }
  return rounds * exposed + (each ? reduction / 2 : 0);
}

double update_time(const Step& it) {
  const double shards = it.setup.layout.zero >= 1 ? it.data : 1;
  const double parameters = it.size.worker_parameters(it.setup.layout) * it.setup.trained / shards;
  if (it.setup.offloads_update) {
    const double bytes = parameters * (it.setup.gradient_value + it.setup.value).in(kByte);
    // Workers of a VM share its processors, which several of them use better than one does.
    const double crowd = std::pow(std::min(it.per_vm, it.data), kHostCrowding);
    return it.micro_batches * (parameters * it.law.host_update * crowd +
                               bytes / it.setup.machines.host.in(kByte / kSecond));
  }
  const double bandwidth = it.setup.machines.device.bandwidth.in(kByte / kSecond);
  const double layers = it.size.layers / it.setup.layout.pipeline;
  return it.law.update * parameters * kUpdateBytes.in(kByte) / bandwidth +
         it.law.update_launch * layers;
}

void check(const ShardedSetup& setup) {
  CHECK(setup.shape.layers > 0);
  CHECK(setup.shape.hidden > 0);
  CHECK(setup.shape.heads > 0);
  CHECK(setup.sequence > 0);
  CHECK(setup.global_batch > 0);
  CHECK(setup.machines.workers_per_vm >= 1);
  CHECK(setup.machines.device.peak > FlopsPerSecond{});
  CHECK(setup.machines.device.bandwidth > BytesPerSecond{});
}

}  // namespace

std::span<const ShardedConstant> sharded_constants() {
  static constexpr ShardedConstant kConstants[] = {
      {"product", &ShardedLaw::product, 0.2, "1"},
      {"feed", &ShardedLaw::feed, 0.4, "1"},
      {"waves", &ShardedLaw::waves, 0.7, "1"},
      {"attention", &ShardedLaw::attention, 0.5, "1"},
      {"attention_feed", &ShardedLaw::attention_feed, 0.4, "1"},
      {"unaligned", &ShardedLaw::unaligned, 0.5, "1"},
      {"score", &ShardedLaw::score, 0.4, "1"},
      {"sweep", &ShardedLaw::sweep, 0.3, "1"},
      {"launch", &ShardedLaw::launch, 0.6, "s"},
      {"micro_step", &ShardedLaw::micro_step, 1, "s"},
      {"fp8_gain", &ShardedLaw::fp8_gain, 0.15, "1"},
      {"inside_efficiency", &ShardedLaw::inside_efficiency, 0.4, "1"},
      {"inside_latency", &ShardedLaw::inside_latency, 0.8, "s"},
      {"network_efficiency", &ShardedLaw::network_efficiency, 0.5, "1"},
      {"rings", &ShardedLaw::rings, 0.8, "1"},
      {"network_latency", &ShardedLaw::network_latency, 0.8, "s"},
      {"point_to_point", &ShardedLaw::point_to_point, 0.8, "1"},
      {"all_to_all", &ShardedLaw::all_to_all, 0.5, "1"},
      {"all_gather", &ShardedLaw::all_gather, 0.3, "1"},
      {"gradient", &ShardedLaw::gradient, 0.5, "1"},
      {"gradient_cover", &ShardedLaw::gradient_cover, 0.5, "1"},
      {"gather_visible", &ShardedLaw::gather_visible, 0.5, "1"},
      {"bubble", &ShardedLaw::bubble, 0.3, "1"},
      {"update", &ShardedLaw::update, 0.4, "1"},
      {"update_launch", &ShardedLaw::update_launch, 1, "s"},
      {"host_update", &ShardedLaw::host_update, 0.7, "s"},
      {"fixed", &ShardedLaw::fixed, 0.5, "s"},
  };
  return kConstants;
}

Result<ShardedLaw> sharded_law(const Calibration& calibration) {
  ShardedLaw law;
  for (const ShardedConstant& constant : sharded_constants()) {
    const auto found = std::find_if(
        calibration.constants.begin(), calibration.constants.end(),
        [&](const Constant& it) { return it.scope == kShardedScope && it.name == constant.name; });
    if (found == calibration.constants.end() || !(found->value > 0)) {
      return bad_input(fmt::format("the calibration {} has no constant {} of {} above zero",
                                   calibration.name, constant.name, kShardedScope));
    }
    law.*constant.member = found->value;
  }
  return law;
}

Seconds ShardedParts::total() const {
  return forward + backward + tensor + gathers + point_to_point + bubble + gradients + update +
         host;
}

StageTimes stage_times(const ShardedSetup& setup, const ShardedLaw& law) {
  check(setup);
  const Step it(setup, law);
  const LayerTimes layer = layer_times(it);
  const double layers = it.size.layers / setup.layout.pipeline;
  return {.forward = layers * layer.forward() * kSecond,
          .backward = layers * layer.backward() * kSecond,
          .head = (head_time(it) + law.micro_step) * kSecond,
          .transfer = transfer_time(it) * kSecond};
}

ShardedParts sharded_step(const ShardedSetup& setup, const ShardedLaw& law) {
  check(setup);
  const Step it(setup, law);
  const ParallelLayout& layout = setup.layout;
  const LayerTimes layer = layer_times(it);
  const double head = head_time(it);
  const double layers = it.size.layers / layout.pipeline;
  const double often = it.micro_batches * layers;
  const double transfers = 2.0 * layout.virtual_stages * transfer_time(it);
  const double fill = law.bubble * (layout.pipeline - 1.0) / layout.virtual_stages *
                      (layers * layer.total() + transfers / layout.virtual_stages + law.micro_step);

  ShardedParts parts;
  parts.forward = (often * layer.compute.forward + it.micro_batches * head / 3) * kSecond;
  parts.backward = (often * layer.compute.backward + it.micro_batches * head * 2 / 3) * kSecond;
  parts.tensor = often * (layer.collectives.forward + layer.collectives.backward) * kSecond;
  parts.gathers = often * layer.gathers * kSecond;
  parts.point_to_point = it.micro_batches * transfers * kSecond;
  parts.bubble = fill * kSecond;
  parts.gradients = exposed_reduction(it, layers * layer.backward()) * kSecond;
  parts.update = update_time(it) * kSecond;
  parts.host = (often * layer.host + it.micro_batches * law.micro_step + law.fixed) * kSecond;
  return parts;
}

Flops model_flops(const ShardedSetup& setup) {
  const ShardedShape& size = setup.shape;
  const double length = size.tokens(setup.sequence);
  const double weights = 2 * size.hidden * (size.query + size.kv) +
                         (size.gates + 1) * size.hidden * size.wide * size.experts_used;
  const double tokens = setup.global_batch * length;
  const double products = 2 * tokens * (size.layers * weights + size.hidden * size.vocabulary);
  const double attention = 4 * (size.causal ? 0.5 : 1) * tokens * length * size.query * size.layers;
  return ((setup.frozen_products ? 2 : 3) * products + 3 * attention) * kFlop;
}

Seconds step_at_peak(const ShardedSetup& setup) {
  constexpr double kFp8Gain = 2;  // Of data sheets.
  const ShardedMachines& it = setup.machines;
  return model_flops(setup) /
         (static_cast<double>(workers(setup.layout)) * (it.fp8 ? kFp8Gain : 1) * it.device.peak);
}

}  // namespace stint
