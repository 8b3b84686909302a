#include "app/plan/layout_cases.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "load/catalog_cases.h"
#include "load/predict_inputs.h"
#include "load/sharded_laws.h"
#include "predict/sharded/layout_advice.h"
#include "predict/sharded/layout_answer.h"

namespace stint {
namespace {

/// What a question about layouts is made of.
struct LayoutInputs {
  Catalog catalog;
  ShardedModel model;
  const VmType* type = nullptr;
  ShardedCluster cluster;
  int global_batch = 1;
  std::vector<std::string> warnings;
};

Result<ShardedModel> model_of(const std::string& name, const JobProfile& job) {
  auto model = load_sharded_model(name, job);
  if (!model.ok()) return model.error();
  if (!*model) {
    return bad_usage(
        fmt::format("{} is no known transformer, whose layers could be split; give --model a "
                    "transformer of 'stint models list' or a config.json",
                    printable(job.name)));
  }
  return std::move(**model);
}

Result<VmGroup> only_group(const std::string& text) {
  const auto cluster = parse_cluster(text);
  if (!cluster.ok()) return cluster.error();
  if (cluster->groups.size() > 1) {
    return bad_usage(fmt::format(
        "'{}' has VMs of several types; layouts are planned on equal VMs only", printable(text)));
  }
  return cluster->groups.front();
}

Status set_cluster(const VmGroup& group, LayoutInputs& inputs) {
  const auto type = find_type(inputs.catalog, group.vm);
  if (!type.ok()) return type.error();
  inputs.type = *type;
  auto cluster = sharded_cluster(inputs.catalog, **type, inputs.model.precision, group.count);
  if (!cluster) {
    return bad_input(fmt::format(
        "the catalogue lacks figures of {} that layouts need: the peak and memory of its "
        "accelerator at this precision{}; 'stint catalog show {}' shows what there is",
        (*type)->name, group.count > 1 ? ", or its network" : "", (*type)->name));
  }
  inputs.cluster = std::move(*cluster);
  return {};
}

Result<LayoutInputs> load_layout_inputs(const Environment& environment,
                                        const LayoutsRequest& request) {
  const auto group = only_group(request.cluster);
  if (!group.ok()) return group.error();
  auto job = load_job(request.job);
  if (!job.ok()) return job.error();
  auto model = model_of(request.job, job->noun);
  if (!model.ok()) return model.error();
  auto catalog = load_catalog(environment);
  if (!catalog.ok()) return catalog.error();
  LayoutInputs inputs{.catalog = std::move(catalog->noun),
                      .model = std::move(*model),
                      .cluster = {},
                      .warnings = std::move(catalog->warnings)};
  if (job->noun.batch) inputs.global_batch = job->noun.batch->reference;
  const Status set = set_cluster(*group, inputs);
  if (!set.ok()) return set.error();
  return inputs;
}

/// One layout, taken apart.
Status take_apart(const LayoutQuestion& question, const std::string& text, LayoutsAnswer& answer) {
  const auto layout = parse_parallel_layout(text);
  if (!layout.ok()) return layout.error();
  const std::string why = layout_problem(question, *layout);
  if (!why.empty()) return bad_usage(why);
  const LayoutChoice choice = evaluate(question, *layout);
  answer.layouts.push_back(estimate_of(question, choice));
  (choice.p_fits >= question.confidence ? answer.fitting : answer.too_large) = 1;
  return {};
}

void list_all(const LayoutQuestion& question, int rows, LayoutsAnswer& answer) {
  const LayoutList list = all_layouts(question, static_cast<std::size_t>(rows));
  answer.fitting = list.fits;
  answer.too_large = list.too_large;
  answer.impossible = list.impossible;
  for (const LayoutChoice& choice : list.fitting) {
    answer.layouts.push_back(estimate_of(question, choice));
  }
}

}  // namespace

Result<LayoutsAnswer> list_layouts(const Environment& environment, const LayoutsRequest& request) {
  if (request.rows < 1) return bad_usage("--rows must be 1 or more");
  const auto inputs = load_layout_inputs(environment, request);
  if (!inputs.ok()) return inputs.error();
  const LayoutQuestion question{.model = inputs->model,
                                .cluster = inputs->cluster,
                                .global_batch = inputs->global_batch,
                                .unvalidated = true};
  LayoutsAnswer answer{.model = inputs->model.name,
                       .cluster = request.cluster,
                       .gpu = gpu_of(inputs->catalog, *inputs->type)->name,
                       .workers = inputs->cluster.workers(),
                       .global_batch = inputs->global_batch,
                       .confidence = question.confidence,
                       .layouts = {},
                       .warnings = inputs->warnings};
  if (!inputs->model.setup.shape.patches) {
    answer.sequence = static_cast<std::int64_t>(inputs->model.setup.sequence);
  }
  if (!request.layout.empty()) {
    const Status taken = take_apart(question, request.layout, answer);
    if (!taken.ok()) return taken.error();
  } else {
    list_all(question, request.rows, answer);
  }
  if (answer.fitting == 0) {
    answer.advice = fitting_advice(question, inputs->catalog, *inputs->type);
  }
  return answer;
}

}  // namespace stint
