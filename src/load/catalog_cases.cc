#include "load/catalog_cases.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "catalog/table_format.h"
#include "load/bundled.h"
#include "load/price_check.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

// Names that `diff` gives a meaning of their own.
constexpr const char* kBundled = "bundled";
constexpr const char* kMerged = "merged";
constexpr const char* kStandardInput = "-";

/// The user's catalogue files, sorted by name; none when there is no such folder. A folder that
/// cannot be read is a warning: what is bundled is enough for most questions.
std::vector<fs::path> user_files(const std::string& folder, std::vector<std::string>& warnings) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;  // A pipe or a folder by that name is no catalogue.
    const bool regular = entry->is_regular_file(ignored);
    if (regular && entry->path().extension() == ".json") files.push_back(entry->path());
  }
  constexpr const char* kWithout = "your own catalogues are left out";
  if (error == std::errc::not_a_directory) {
    warnings.push_back(
        fmt::format("{} must be a folder, but is a file; {}: move it away", folder, kWithout));
  } else if (error && error != std::errc::no_such_file_or_directory) {
    warnings.push_back(fmt::format("cannot read {}: {}; {}: check its permissions", folder,
                                   error.message(), kWithout));
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool file_exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool looks_like_json(std::string_view text) {
  const std::string_view start = trim_left(text);
  return start.starts_with("{") || start.starts_with("[") || start.starts_with("\xEF\xBB\xBF{");
}

/// A catalogue, and whether it came from a table, which does not say all that our JSON says.
struct AnyCatalog {
  Loaded<Catalog> loaded;
  bool table = false;
};

/// Reads our JSON or any of the tables, told apart by the first character.
Result<AnyCatalog> read_any(const std::string& file, const TableOrigin& origin) {
  const auto text = read_file(file == kStandardInput ? "/dev/stdin" : file);
  if (!text.ok()) return text.error();
  if (trim(*text).empty()) return bad_input(fmt::format("{}: the file is empty", file));
  const bool table = !looks_like_json(*text);
  auto loaded = table ? read_catalog_table(*text, file, origin) : read_catalog(*text, file);
  if (!loaded.ok()) return loaded.error();
  return AnyCatalog{std::move(*loaded), table};
}

bool is_safe_name(std::string_view name) {
  const auto safe = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= 100 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), safe);
}

/// The file's name without its ending. Tables of several providers are often called the same
/// ("aws/vms.csv", "gcp/vms.csv"), so the provider goes before it.
std::string default_name(const std::string& file, const std::string& provider) {
  const std::string stem = fs::path(file).stem().string();
  const bool said = provider.empty() || to_lower(stem).starts_with(provider);
  return said ? stem : provider + "-" + stem;
}

/// The request with its blanks filled in: provider, name and date.
Result<ImportRequest> completed(const Environment& environment, ImportRequest request) {
  if (request.provider.empty()) request.provider = provider_of_path(request.file);
  request.provider = to_lower(request.provider);
  if (request.date.empty()) request.date = to_text(date_at(environment.clock->now()));
  if (request.name.ends_with(".json")) request.name.resize(request.name.size() - 5);
  if (request.name.empty() && request.file == kStandardInput) {
    return bad_usage("standard input needs a name: add --name NAME");
  }
  if (request.name.empty()) request.name = default_name(request.file, request.provider);
  if (request.name == kBundled || request.name == kMerged || !is_safe_name(request.name)) {
    return bad_usage(
        fmt::format("'{}' is not a valid name of a catalogue: with --name, use letters, digits, "
                    "'.', '-' and '_', and not {} or {}",
                    printable(request.name), kBundled, kMerged));
  }
  return request;
}

bool has_price_of(const Catalog& catalog, const Date& date) {
  for (const VmType& type : catalog.types) {
    for (const Offer& offer : type.offers) {
      if (offer.on_demand && offer.on_demand->date == date) return true;
      if (offer.spot && offer.spot->date == date) return true;
    }
  }
  return false;
}

Result<TableOrigin> origin_of(const ImportRequest& request) {
  const auto date = parse_date(request.date);
  if (!date.ok()) return bad_usage(date.error().message);
  return TableOrigin{.provider = request.provider,
                     .name = fs::path(request.file).filename().string(),
                     .date = *date};
}

Result<Loaded<Catalog>> catalog_called(const Environment& environment, const std::string& name,
                                       const std::string& provider) {
  if (name == kBundled) return Loaded<Catalog>{bundled_catalog(), {}};
  if (name == kMerged) return load_catalog(environment);
  const auto folder = user_catalog_folder(environment);
  const std::string kept = folder.ok() ? fmt::format("{}/{}.json", *folder, name) : "";
  const bool imported = is_safe_name(name) && file_exists(kept);
  const auto request = completed(environment, {.file = name, .name = "file", .provider = provider});
  if (!request.ok()) return request.error();
  const auto origin = origin_of(*request);
  if (!origin.ok()) return origin.error();
  auto read = read_any(imported ? kept : name, *origin);
  if (!read.ok()) return read.error();
  return std::move(read->loaded);
}

/// `bundled` with the user's catalogues laid over it.
Result<Loaded<Catalog>> with_own_catalogs(const Environment& environment, Catalog bundled) {
  Loaded<Catalog> all{std::move(bundled), {}};
  const auto folder = user_catalog_folder(environment);
  if (!folder.ok()) return all;
  for (const fs::path& file : user_files(*folder, all.warnings)) {
    auto own = read_any(file.string(), {});
    if (!own.ok()) return own.error();
    // Providers go by their lower-case names from here on, as in what is imported from tables.
    for (VmType& type : own->loaded.noun.types) type.provider = to_lower(type.provider);
    all.noun = merge(std::move(all.noun), std::move(own->loaded.noun));
    for (std::string& warning : own->loaded.warnings) all.warnings.push_back(std::move(warning));
  }
  return all;
}

}  // namespace

Catalog bundled_catalog() {
  Catalog all;
  for (const BundledFile& file : bundled_catalogs()) {
    auto loaded = read_catalog(file.bytes, file.path);
    CHECK(loaded.ok());
    CHECK(loaded->warnings.empty());
    all = merge(std::move(all), std::move(loaded->noun));
  }
  return all;
}

Result<std::string> user_catalog_folder(const Environment& environment) {
  if (environment.data_folder) return *environment.data_folder + "/catalogs";
  return failed("there is no folder for your catalogues: set HOME or XDG_DATA_HOME");
}

Result<Loaded<Catalog>> load_catalog(const Environment& environment) {
  return with_own_catalogs(environment, bundled_catalog());
}

Result<ListAnswer> list_catalog(const Environment& environment, const ListRequest& request) {
  Catalog bundled = bundled_catalog();
  const auto bundled_regions = single_regions(bundled);
  auto loaded = with_own_catalogs(environment, std::move(bundled));
  if (!loaded.ok()) return loaded.error();
  auto selected = select(loaded->noun, request.filter, request.sort);
  if (!selected.ok()) return selected.error();
  ListAnswer answer{.catalog = std::move(*selected), .warnings = std::move(loaded->warnings)};
  answer.found = answer.catalog.types.size();
  answer.single_regions = single_regions(loaded->noun);
  std::erase_if(answer.single_regions, [&](const auto& single) {
    const bool bundled_one =
        std::find(bundled_regions.begin(), bundled_regions.end(), single) != bundled_regions.end();
    return !bundled_one ||
           std::none_of(answer.catalog.types.begin(), answer.catalog.types.end(),
                        [&](const VmType& type) { return type.provider == single.first; });
  });
  if (answer.found > 0) {
    const VmType& first = answer.catalog.types.front();
    const VmName name{.provider = std::nullopt, .region = std::nullopt, .name = first.name};
    const bool unique = find_type(loaded->noun, name).ok();
    answer.example = unique ? first.name : first.provider + "/" + first.name;
  }
  if (request.limit && answer.found > static_cast<std::size_t>(*request.limit)) {
    answer.catalog.types.resize(static_cast<std::size_t>(*request.limit));
    drop_unused(answer.catalog);
  }
  return answer;
}

Result<Loaded<Catalog>> show_vm(const Environment& environment, const std::string& name) {
  const auto wanted = parse_vm_name(name);
  if (!wanted.ok()) return wanted.error();
  auto loaded = load_catalog(environment);
  if (!loaded.ok()) return loaded.error();
  const auto type = find_type(loaded->noun, *wanted);
  if (!type.ok()) return type.error();
  Catalog one{.sources = loaded->noun.sources, .gpus = loaded->noun.gpus, .types = {**type}};
  if (wanted->region) {
    std::erase_if(one.types[0].offers, [&](const Offer& offer) {
      return to_lower(offer.region) != to_lower(*wanted->region);
    });
  }
  drop_unused(one);
  return Loaded<Catalog>{std::move(one), std::move(loaded->warnings)};
}

Result<ImportAnswer> import_catalog(const Environment& environment, const ImportRequest& asked) {
  const auto request = completed(environment, asked);
  if (!request.ok()) return request.error();
  const auto origin = origin_of(*request);
  if (!origin.ok()) return origin.error();
  const auto folder = user_catalog_folder(environment);
  if (!folder.ok()) return folder.error();
  auto read = read_any(request->file, *origin);
  if (!read.ok()) return read.error();
  Loaded<Catalog>* const loaded = &read->loaded;
  if (!read->table && (!asked.provider.empty() || !asked.date.empty())) {
    return bad_usage(fmt::format(
        "{} has its own providers and dates; leave out --provider and --date", request->file));
  }
  if (!request->force) {
    const Status plausible = check_prices(loaded->noun, bundled_catalog(), request->file);
    if (!plausible.ok()) return plausible.error();
  }

  ImportAnswer answer{.path = fmt::format("{}/{}.json", *folder, request->name),
                      .warnings = std::move(loaded->warnings)};
  answer.replaced = file_exists(answer.path);
  const Status written = write_file(answer.path, write_catalog(loaded->noun));
  if (!written.ok()) return written.error();
  answer.types = loaded->noun.types.size();
  for (const VmType& type : loaded->noun.types) answer.offers += type.offers.size();
  if (answer.types > 0) {
    answer.example = loaded->noun.types[0].provider + "/" + loaded->noun.types[0].name;
  }
  const bool assumed =
      read->table && asked.date.empty() && has_price_of(loaded->noun, origin->date);
  if (assumed) answer.assumed_date = request->date;
  return answer;
}

Result<DiffAnswer> diff_catalogs(const Environment& environment, const std::string& before,
                                 const std::string& after, const std::string& provider) {
  auto first = catalog_called(environment, before, provider);
  if (!first.ok()) return first.error();
  auto second = catalog_called(environment, after, provider);
  if (!second.ok()) return second.error();
  DiffAnswer answer{.differences = diff(first->noun, second->noun),
                    .warnings = std::move(first->warnings)};
  for (std::string& warning : second->warnings) answer.warnings.push_back(std::move(warning));
  return answer;
}

}  // namespace stint
