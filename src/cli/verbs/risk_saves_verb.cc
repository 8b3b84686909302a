#include <fmt/format.h>
#include <utility>
#include <vector>

#include "app/risk/risk_saves.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/render/figures.h"
#include "cli/render/render_risk.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "cli/views/risk_views.h"

namespace stint::cli {
namespace {

constexpr const char* kVerb = "risk saves";

Result<SavesRequest> request_of(const Invocation& invocation) {
  for (const char* option : {"--vm", "--work"}) {
    if (invocation.has(option)) continue;
    return bad_usage(fmt::format(
        "{} is required. For example: stint risk saves --vm p4d.24xlarge --work 24h --bytes 3GB",
        option));
  }
  const auto work = quantity_of<Seconds>(invocation, "--work");
  if (!work.ok()) return work.error();
  const auto bytes = quantity_of<Bytes>(invocation, "--bytes");
  if (!bytes.ok()) return bytes.error();
  const auto copy = quantity_of<Seconds>(invocation, "--stall");
  if (!copy.ok()) return copy.error();
  const auto count = count_of(invocation, "--count");
  if (!count.ok()) return count.error();
  const auto receivers = count_of(invocation, "--receivers", kVmsMax);
  if (!receivers.ok()) return receivers.error();
  SavesRequest request{.machines = {.vm = invocation.get("--vm"),
                                    .region = invocation.get("--region"),
                                    .count = count->value_or(1),
                                    .time = **work,
                                    .lifetimes = invocation.list("--lifetimes"),
                                    .advisor = invocation.get("--advisor")},
                       .bytes = *bytes,
                       .copy = *copy,
                       .receivers = receivers->value_or(1),
                       .blocking = invocation.has("--blocking")};
  if (invocation.has("--place")) {
    request.place = enumerator<CheckpointPlace>(invocation.get("--place"));
  }
  return request;
}

std::string every(const SaveInterval& it) {
  return it.interval ? "every " + duration(*it.interval) : "never";
}

std::string text_of(const SavesReport& report, const Terminal& terminal) {
  std::string text =
      fmt::format("{} x {} for {} of work\n\n", report.count, report.vm, duration(report.work));
  Table table({{.title = "saves", .importance = 9},
               {.title = "when", .importance = 8},
               {.title = "time wasted", .align = Align::kRight, .importance = 7}});
  table.add({"by age", fmt::format("{} in total", report.begins.size()), percent(report.waste)});
  table.add({"best constant", every(report.constant), percent(report.constant.waste)});
  table.add({"Young", every(report.young), percent(report.young.waste)});
  table.add({"Daly", every(report.daly), percent(report.daly.waste)});
  text += table.text(terminal, "-o json") + "\n";
  text += sheet_line("checkpoint",
                     fmt::format("Training stalls for {}; the checkpoint is complete {} later.",
                                 duration(report.stall), duration(report.transfer)),
                     terminal);
  if (report.fits_in_notice) {
    text += sheet_line("notice",
                       *report.fits_in_notice
                           ? fmt::format("A checkpoint fits into the notice, so only the {} of "
                                         "losses without notice cost work.",
                                         percent(report.without_notice))
                           : "A checkpoint does not fit into the notice.",
                       terminal);
  }
  constexpr std::size_t kFew = 8;
  std::string ages;
  for (std::size_t i = 0; i < std::min(kFew, report.begins.size()); ++i) {
    ages += (i > 0 ? ", " : "") + duration(report.begins[i]);
  }
  if (report.begins.size() > kFew) ages += ", …; -o json has all";
  if (!ages.empty()) text += sheet_line("at ages", ages + ".", terminal);
  return text;
}

Json json_of(const SavesReport& report) {
  return encoded(SavesView{.vm = report.vm,
                           .count = report.count,
                           .work = report.work,
                           .stall = report.stall,
                           .transfer = report.transfer,
                           .fits_in_notice = report.fits_in_notice,
                           .without_notice = report.without_notice,
                           .begins = report.begins,
                           .waste = report.waste,
                           .constant = report.constant,
                           .young = report.young,
                           .daly = report.daly,
                           .hazard_origin = report.hazard_origin});
}

ExitCode run(const Invocation& invocation) {
  const auto request = request_of(invocation);
  if (!request.ok()) return report(invocation, kVerb, request.error());
  const auto found = plan_saves(invocation.environment, *request);
  if (!found.ok()) return report(invocation, kVerb, found.error());
  print_warnings(invocation, found->warnings);
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(json_of(*found), JsonStyle::kPretty) + "\n");
    return kExitOk;
  }
  print_answer(invocation, text_of(*found, invocation.out_terminal));
  say(invocation, "Hazard: " + found->hazard_origin + ".");
  return kExitOk;
}

}  // namespace

Verb risk_saves_verb() {
  std::vector<OptionSpec> options = {
      {.name = "--vm", .value = "NAME", .help = "VM type."},
      {.name = "--count", .value = "N", .help = "Number of machines (default: 1)."},
      {.name = "--work", .value = "TIME", .help = "Training time: 24h."},
      {.name = "--bytes", .value = "SIZE", .help = "Checkpoint size: 3GB."},
      {.name = "--stall",
       .value = "TIME",
       .help = "Stall of training while a checkpoint is copied (default: by its size)."},
      {.name = "--place",
       .value = "PLACE",
       .help = "Checkpoint storage: the object store (default), an on-demand VM of the type, or a "
               "tier of such VMs.",
       .choices = choices_of<CheckpointPlace>()},
      {.name = "--receivers", .value = "N", .help = "Machines of a tier (default: 1)."},
      {.name = "--blocking", .help = "Stall training for the transfer, too."}};
  for (OptionSpec& option : hazard_options()) options.push_back(std::move(option));
  return {.path = kVerb,
          .group = VerbGroup::kPlan,
          .summary = "Choose checkpoint times for spot machines.",
          .details =
              "Finds the ages of the machines at which checkpoints waste the least time, in stalls "
              "and in lost work, under the hazard of losing any machine. Also shows the best "
              "constant interval and those of Young and Daly. Spot machines without checkpoints "
              "are refused, and so are checkpoints that rarely complete before the next loss.",
          .options = std::move(options),
          .outputs = {"table", "json"},
          .examples = {{"stint risk saves --vm p4d.24xlarge --count 8 --work 24h --bytes 3GB",
                        "Eight machines for a day."},
                       {"stint risk saves --vm a2-highgpu-1g --work 12h --bytes 1GB -o json",
                        "All ages, as JSON."}},
          .run = run};
}

}  // namespace stint::cli
