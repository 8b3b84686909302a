#include <algorithm>
#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "base/unit_text.h"
#include "catalog/table_format.h"
#include "cli/render/render_catalog.h"
#include "cli/verbs/machine_options.h"
#include "cli/verbs/options.h"
#include "cli/verbs/verb_list.h"
#include "cli/views/catalog_views.h"
#include "load/catalog_cases.h"

namespace stint::cli {
namespace {

Result<ListRequest> to_list_request(const Invocation& invocation) {
  ListRequest request;
  request.filter.providers = invocation.list("--providers");
  request.filter.regions = invocation.list("--regions");
  for (const std::string& market : invocation.list("--markets")) {
    request.filter.markets.push_back(enumerator<Market>(market));
  }
  request.filter.machines = machines_of(invocation);
  if (invocation.has("--min-gpu-memory")) {
    const auto memory = parse_quantity<Bytes>(invocation.get("--min-gpu-memory"));
    if (!memory.ok()) return bad_usage("--min-gpu-memory: " + memory.error().message);
    if (*memory <= Bytes{}) return bad_usage("--min-gpu-memory must be above zero");
    request.filter.gpu_memory_min = *memory;
  }
  if (invocation.has("--max-price")) {
    const auto price = parse_quantity<DollarsPerSecond>(invocation.get("--max-price"));
    if (!price.ok()) return bad_usage("--max-price: " + price.error().message);
    if (*price <= DollarsPerSecond{}) return bad_usage("--max-price must be above zero");
    request.filter.price_max = *price;
  }
  if (invocation.has("--sort")) request.sort = enumerator<SortKey>(invocation.get("--sort"));
  const auto limit = count_of(invocation, "--limit");
  if (!limit.ok()) return limit.error();
  request.limit = *limit;
  return request;
}

void print_catalog(const Invocation& invocation, const Catalog& catalog, const std::string& table) {
  if (invocation.output() == "json") {
    print_answer(invocation, write_catalog(catalog));
  } else if (invocation.output() == "csv") {
    print_answer(invocation, write_catalog_table(catalog));
  } else {
    print_answer(invocation, table);
  }
}

/// Says what the marks in a table mean, as far as they are there.
void explain_marks(const Invocation& invocation, const Catalog& catalog) {
  if (invocation.output() != "table") return;
  std::string legend = "Prices are per hour, and 'of' is their date";
  if (shows_derived_price(catalog)) legend += "; ~ computed, not listed";
  if (shows_unplannable(catalog)) legend += "; * no figures, so it cannot be planned";
  say(invocation, legend + ".");
}

ExitCode list(const Invocation& invocation) {
  const auto request = to_list_request(invocation);
  if (!request.ok()) return report(invocation, "catalog list", request.error());
  const auto answer = list_catalog(invocation.environment, *request);
  if (!answer.ok()) return report(invocation, "catalog list", answer.error());
  print_warnings(invocation, answer->warnings);
  const Catalog& catalog = answer->catalog;
  if (catalog.types.empty() && invocation.output() == "table") {
    say(invocation, "No machine passes these filters; relax one of them.");
    return kExitOk;
  }
  const CatalogView view{.all_regions = invocation.has("--all-regions"),
                         .markets = request->filter.markets};
  print_catalog(invocation, catalog, catalog_table(catalog, view, invocation.out_terminal));
  explain_marks(invocation, catalog);
  if (invocation.output() == "table") {
    const std::string shown =
        catalog.types.size() == answer->found
            ? counted(answer->found, "machine")
            : fmt::format("{} of {}", catalog.types.size(), counted(answer->found, "machine"));
    say(invocation,
        fmt::format("{}. Details: stint catalog show {}", shown, shell_quoted(answer->example)));
    for (const auto& [provider, region] : answer->single_regions) {
      say(invocation,
          fmt::format("Bundled prices of {0} are those of {1} only; add others with: stint "
                      "catalog import FILE --provider {0}",
                      without_controls(provider), without_controls(region)));
    }
  }
  return kExitOk;
}

ExitCode show(const Invocation& invocation) {
  const auto answer = show_vm(invocation.environment, invocation.arguments[0]);
  if (!answer.ok()) return report(invocation, "catalog show", answer.error());
  print_warnings(invocation, answer->warnings);
  print_catalog(invocation, answer->noun, vm_sheet(answer->noun, invocation.out_terminal));
  explain_marks(invocation, answer->noun);
  return kExitOk;
}

void print_import(const Invocation& invocation, const ImportAnswer& answer) {
  if (invocation.output() == "json") {
    const CatalogImportView view{.path = answer.path,
                                 .replaced = answer.replaced,
                                 .types = static_cast<int>(answer.types),
                                 .offers = static_cast<int>(answer.offers)};
    print_answer(invocation, to_text(encoded(view), JsonStyle::kPretty) + "\n");
    return;
  }
  print_answer(
      invocation,
      fmt::format("{} {} with {} in {}\n", answer.replaced ? "Replaced" : "Imported",
                  counted(answer.types, "VM type"), counted(answer.offers, "offer"), answer.path));
  if (!answer.assumed_date.empty()) {
    say(invocation,
        fmt::format("Prices are dated today, {}; --date sets another date.", answer.assumed_date));
  }
  if (!answer.example.empty()) {
    say(invocation,
        fmt::format("Details of one: stint catalog show {}", shell_quoted(answer.example)));
  }
}

ExitCode import_file(const Invocation& invocation) {
  const auto answer =
      import_catalog(invocation.environment, {.file = invocation.arguments[0],
                                              .name = invocation.get("--name"),
                                              .provider = invocation.get("--provider"),
                                              .date = invocation.get("--date"),
                                              .force = invocation.has("--force")});
  if (!answer.ok()) return report(invocation, "catalog import", answer.error());
  print_warnings(invocation, answer->warnings);
  print_import(invocation, *answer);
  return kExitOk;
}

Json difference_json(const std::vector<Difference>& differences) {
  CatalogDiffView view;
  for (const Difference& it : differences) {
    DifferenceView& entry = view.differences.emplace_back(
        DifferenceView{.change = it.kind, .what = it.what, .before = {}, .after = {}});
    if (!it.before.empty()) entry.before = it.before;
    if (!it.after.empty()) entry.after = it.after;
  }
  return encoded(view);
}

std::string difference_csv(const std::vector<Difference>& differences) {
  std::string text = csv_line({"change", "what", "before", "after"});
  for (const Difference& it : differences) {
    text += csv_line({name_of(it.kind), it.what, it.before, it.after});
  }
  return text;
}

ExitCode diff_two(const Invocation& invocation) {
  const auto answer = diff_catalogs(invocation.environment, invocation.arguments[0],
                                    invocation.arguments[1], invocation.get("--provider"));
  if (!answer.ok()) return report(invocation, "catalog diff", answer.error());
  print_warnings(invocation, answer->warnings);
  const auto& differences = answer->differences;
  if (invocation.output() == "json") {
    print_answer(invocation, to_text(difference_json(differences), JsonStyle::kPretty) + "\n");
  } else if (invocation.output() == "csv") {
    print_answer(invocation, difference_csv(differences));
  } else if (!differences.empty()) {
    print_answer(invocation, difference_table(differences, invocation.out_terminal));
  }
  say(invocation, differences.empty() ? "The two catalogues are equal (sources are not compared)."
                                      : counted(differences.size(), "difference") + ".");
  return kExitOk;
}

std::vector<OptionSpec> list_options() {
  std::vector<OptionSpec> options = {
      {.name = "--providers",
       .value = "LIST",
       .help = "Providers to list, for example aws,gcp (default: all).",
       .list = true},
      {.name = "--regions",
       .value = "LIST",
       .help = "Regions to list (default: all).",
       .list = true}};
  const MachineWords words{.verb = "list",
                           .gpus = "none: machines without one; default: all",
                           .processors = "amd64, arm64 (default: both)"};
  for (OptionSpec& option : machine_options(words)) options.push_back(std::move(option));
  const std::vector<OptionSpec> more = {
      {.name = "--min-gpu-memory",
       .value = "SIZE",
       .help = "Minimum accelerator memory, for example 24GB."},
      {.name = "--max-price", .value = "PRICE", .help = "Maximum price, for example '3 USD/h'."},
      {.name = "--markets",
       .value = "LIST",
       .help = "Markets with a price.",
       .choices = choices_of<Market>(),
       .list = true},
      {.name = "--sort",
       .value = "KEY",
       .help = "Sort key, best first (default: price-per-gpu).",
       .choices = choices_of<SortKey>()},
      {.name = "--limit", .value = "N", .help = "Maximum number of machines to list."},
      {.name = "--all-regions", .help = "Print a row for each region."}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

Verb list_verb() {
  return {
      .path = "catalog list",
      .group = VerbGroup::kMachines,
      .summary = "List VM types with prices and their dates.",
      .details =
          "A row is a VM type in its cheapest region; '+6' means six more regions offer it. --gpu "
          "none lists machines without an accelerator.",
      .options = list_options(),
      .outputs = {"table", "json", "csv"},
      .examples = {{"stint catalog list --gpu T4",
                    "All machines with T4s, cheapest per GPU first."},
                   {"stint catalog list --types 'p4*,g5.*' --arch amd64", "Two families of AWS."},
                   {"stint catalog list --markets spot --min-gpu-memory 40GB --limit 5",
                    "The five cheapest spot offers with 40 GB."}},
      .run = list};
}

Verb show_verb() {
  return {.path = "catalog show",
          .group = VerbGroup::kMachines,
          .summary = "Show all figures of one VM type and their sources.",
          .arguments = {{.name = "NAME",
                         .help = "VM type: NAME, PROVIDER/NAME or PROVIDER/REGION/NAME."}},
          .outputs = {"table", "json", "csv"},
          .examples = {{"stint catalog show g4dn.12xlarge",
                        "Parts, GPU figures, prices and their "
                        "sources."},
                       {"stint catalog show gcp/us-central1/a2-highgpu-1g",
                        "The same, in one region."}},
          .run = show};
}

Verb import_verb() {
  return {
      .path = "catalog import",
      .group = VerbGroup::kMachines,
      .summary = "Add your own prices and machines to the catalogue.",
      .details =
          "Reads a stint.catalog/1 JSON file, the CSV of 'stint catalog list -o csv', or a "
          "SkyPilot catalogue CSV. Checks the whole file first; its entries then override the "
          "bundled catalogue.",
      .arguments = {{.name = "FILE", .help = "File to read; - for standard input."}},
      .options = {{.name = "--name",
                   .value = "NAME",
                   .help = "Name of the catalogue (default: the file's); an existing catalogue "
                           "of this name is replaced."},
                  {.name = "--provider",
                   .value = "NAME",
                   .help = "Provider of a SkyPilot table, if its path does not name it."},
                  {.name = "--date",
                   .value = "DATE",
                   .help = "Date of the prices in a table (default: today)."},
                  {.name = "--force", .help = "Accept prices under a third of the bundled ones."}},
      .outputs = {"table", "json"},
      .examples = {{"stint catalog import aws/vms.csv --date 2026-11-01",
                    "SkyPilot's AWS table of that day."},
                   {"stint catalog import lab.json --name our-lab",
                    "Your own machines, in Stint's format."}},
      .run = import_file};
}

Verb diff_verb() {
  const std::string which = " 'bundled', 'merged', the name of an imported one, or a file.";
  return {.path = "catalog diff",
          .group = VerbGroup::kMachines,
          .summary = "Compare two catalogues.",
          .arguments = {{.name = "A", .help = "Older catalogue:" + which},
                        {.name = "B", .help = "Newer catalogue:" + which}},
          .options = {{.name = "--provider",
                       .value = "NAME",
                       .help = "Provider of a SkyPilot table, if its path does not name it."}},
          .outputs = {"table", "json", "csv"},
          .examples = {{"stint catalog diff bundled merged", "Changes by your own catalogues."},
                       {"stint catalog diff old.json new.json", "Two files."}},
          .run = diff_two};
}

}  // namespace

std::vector<Verb> catalog_verbs() { return {list_verb(), show_verb(), import_verb(), diff_verb()}; }

}  // namespace stint::cli
