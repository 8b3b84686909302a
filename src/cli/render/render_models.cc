#include "cli/render/render_models.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/render/figures.h"
#include "cli/views/model_views.h"

namespace stint::cli {
namespace {

/// "8.03 B", "25.6 M".
std::string amount(double number) {
  if (number >= 1e9) return fmt::format("{:.3g} B", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.3g} M", number / 1e6);
  return fmt::format("{:.0f}", number);
}

/// "83.9 MB", "16.1 GB".
std::string size_text(Bytes bytes) {
  return bytes < 1 * kGB ? fmt::format("{:.3g} MB", bytes.in(kMB))
                         : fmt::format("{:.4g} GB", bytes.in(kGB));
}

std::string goal_text(const KnownModel& model) {
  if (!model.goal) return "";
  const CustomaryGoal& goal = *model.goal;
  return fmt::format("{:g} {} of {}", goal.epochs, goal.epochs == 1 ? "epoch" : "epochs",
                     goal.data);
}

ModelView view_of(const KnownModel& model) {
  ModelView view{.name = model.name,
                 .family = model.family,
                 .aliases = model.aliases,
                 .parameters = parameters(model),
                 .source = model.source};
  if (model.published_parameters > 0) view.published_parameters = model.published_parameters;
  if (model.image) {
    view.multiply_adds = model.image->multiply_adds;
    view.activations = model.image->activations;
  }
  if (model.shape) view.positions = model.shape->positions;
  if (model.goal) {
    view.data = model.goal->data;
    view.epochs = model.goal->epochs;
  }
  if (model.published_parameters > 0) view.date = model.date;
  return view;
}

std::string shape_text(const ModelShape& shape) {
  std::string text =
      fmt::format("{} layers of width {}, {} heads", shape.layers, shape.hidden, shape.heads);
  if (shape.decoder_layers) text = fmt::format("{} + {}", *shape.decoder_layers, text);
  if (shape.kv_heads) text += fmt::format(" ({} of keys and values)", *shape.kv_heads);
  text += fmt::format(", feed-forward {}", shape.feed_forward);
  if (shape.experts) {
    text += fmt::format(" × {} experts, {} used", *shape.experts, shape.experts_used.value_or(1));
  }
  if (shape.vocabulary > 0) text += fmt::format(", vocabulary {}", shape.vocabulary);
  return text;
}

}  // namespace

std::string model_table(const std::vector<KnownModel>& models, const Terminal& terminal) {
  Table table({{.title = "Model", .importance = 9},
               {.title = "Family", .importance = 6},
               right("Parameters", 8),
               {.title = "Customary goal", .importance = 5},
               {.title = "Source", .importance = 1}});
  for (const KnownModel& it : models) {
    table.add({it.name, it.family, amount(parameters(it)), goal_text(it), it.source});
  }
  return table.text(terminal, "-o json");
}

std::string model_sheet(const KnownModel& model, const Terminal& terminal) {
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += sheet_line(label, value, terminal);
  };
  line("model", model.name);
  line("family", model.family);
  line("also", join(model.aliases, ", "));
  line("parameters", fmt::format("{} ({:.0f})", amount(parameters(model)), parameters(model)));
  if (model.published_parameters > 0) {
    line("published", fmt::format("{:.0f}", model.published_parameters));
  }
  if (model.shape) {
    line("shape", shape_text(*model.shape));
    line("sequence", fmt::format("{} tokens at most", model.shape->positions));
  }
  if (model.image) {
    line("one image", fmt::format("{} multiply-adds, {} activations at {:g} pixels",
                                  amount(model.image->multiply_adds),
                                  amount(model.image->activations), model.image->side));
  }
  line("goal", goal_text(model));
  line("note", model.note);
  line("source", model.published_parameters > 0
                     ? fmt::format("{} ({})", model.source, to_text(model.date))
                     : model.source);
  return text;
}

std::string models_json(const std::vector<KnownModel>& models) {
  ModelsView view;
  for (const KnownModel& it : models) view.models.push_back(view_of(it));
  return to_text(encoded(view), JsonStyle::kPretty) + "\n";
}

std::string job_sheet(const JobProfile& job, const Terminal& terminal) {
  std::string text;
  const auto line = [&](std::string_view label, const std::string& value) {
    text += sheet_line(label, value, terminal);
  };
  line("job", job.name);
  if (job.description) line("about", *job.description);
  line("gradients", size_text(job.gradient_bytes));
  if (job.parameter_bytes) line("weights", size_text(*job.parameter_bytes));
  if (job.optimizer_bytes) line("optimizer", size_text(*job.optimizer_bytes));
  if (job.work && job.work->activations) {
    line("activations", size_text(*job.work->activations) + " a sample");
  }
  if (job.flops_per_sample) {
    line("arithmetic",
         fmt::format("{:.4g} TFLOP a sample", job.flops_per_sample->in(1e12 * kFlop)));
  }
  if (!job.work) return text;
  for (const std::string& note : job.work->notes) line("assumed", note);
  return text;
}

}  // namespace stint::cli
