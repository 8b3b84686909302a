#include <algorithm>
#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/render/render_models.h"
#include "cli/verbs/model_options.h"
#include "cli/verbs/verb_list.h"
#include "load/model_files.h"

namespace stint::cli {
namespace {

bool is_meant(const KnownModel& model, const std::string& part) {
  const std::string lower = to_lower(part);
  return to_lower(model.name).find(lower) != std::string::npos ||
         to_lower(model.family).find(lower) != std::string::npos;
}

ExitCode list_models(const Invocation& invocation) {
  std::vector<KnownModel> models;
  const std::string part = invocation.arguments.empty() ? "" : invocation.arguments.front();
  for (const KnownModel& it : known_models()) {
    if (is_meant(it, part)) models.push_back(it);
  }
  if (models.empty()) {
    return report(invocation, "models list",
                  bad_usage(fmt::format("no known model has '{}' in its name or family; 'stint "
                                        "models list' shows all",
                                        printable(part))));
  }
  if (invocation.output() == "json") {
    print_answer(invocation, models_json(models));
  } else {
    print_answer(invocation, model_table(models, invocation.out_terminal));
    say(invocation, "Facts of one model: stint models show " + models.front().name);
  }
  return kExitOk;
}

ExitCode show_model(const Invocation& invocation) {
  const auto model = load_model(invocation.arguments.front());
  if (!model.ok()) return report(invocation, "models show", model.error());
  print_answer(invocation, invocation.output() == "json"
                               ? models_json({*model})
                               : model_sheet(*model, invocation.out_terminal));
  return kExitOk;
}

ExitCode new_job(const Invocation& invocation) {
  constexpr const char* kVerb = "job new";
  if (!has_model_options(invocation)) {
    return report(invocation, kVerb,
                  bad_usage("--model is required: a known model or config.json"));
  }
  const auto text = job_text(invocation);
  if (!text.ok()) return report(invocation, kVerb, text.error());
  auto job = load_model_job(*text);
  if (!job.ok()) return report(invocation, kVerb, job.error());
  if (invocation.has("--name")) job->name = invocation.get("--name");
  const std::string out = invocation.get("--out");
  if (out.empty()) {
    print_answer(invocation, write_job(*job));
    return kExitOk;
  }
  const Status written = write_output(out, write_job(*job));
  if (!written.ok()) return report(invocation, kVerb, written.error());
  print_answer(invocation, job_sheet(*job, invocation.out_terminal));
  say(invocation,
      fmt::format("Wrote {}. Plan it: stint plan --job {} --deadline 24h", out, shell_quoted(out)));
  return kExitOk;
}

}  // namespace

std::vector<Verb> model_verbs() {
  std::vector<OptionSpec> options = model_options();
  options.push_back({.name = "--name", .value = "NAME", .help = "Name of the job."});
  options.push_back({.name = "--out",
                     .value = "FILE",
                     .help = "File for the job (default: standard output).",
                     .files = true});
  return {
      {.path = "models list",
       .group = VerbGroup::kPlan,
       .summary = "List the models that are known by name.",
       .arguments = {{.name = "PART", .help = "Part of a name or family.", .required = false}},
       .outputs = {"table", "json"},
       .examples = {{"stint models list llama", "The models of one family."},
                    {"stint models list -o json", "All facts, for a program."}},
       .run = list_models},
      {.path = "models show",
       .group = VerbGroup::kPlan,
       .summary = "Show the facts of a model.",
       .details = "The argument is a known model or the path of a config.json of Hugging Face. "
                  "Parameters are counted from the shape.",
       .arguments = {{.name = "MODEL", .help = "Known model, or a config.json."}},
       .outputs = {"table", "json"},
       .examples = {{"stint models show llama-3-8b", "Its shape, parameters and source."},
                    {"stint models show ./config.json", "The same of a model of your own."}},
       .run = show_model},
      {.path = "job new",
       .group = VerbGroup::kPlan,
       .summary = "Write the job that trains a known model.",
       .details =
           "Bytes, arithmetic and memory follow from the shape of the model; times on any GPU are "
           "predicted from them. 'plan', 'predict' and 'whatif' take the same flags instead of "
           "--job.",
       .options = std::move(options),
       .examples = {{"stint job new --model llama-3-8b --method lora --tokens 100M --out job.json",
                     "A LoRA fine-tune of an 8 B model."},
                    {"stint job new --model resnet50 --epochs 90 --out job.json",
                     "ResNet-50 on ImageNet."}},
       .run = new_job},
  };
}

}  // namespace stint::cli
