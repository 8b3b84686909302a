#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/lookup.h"
#include "catalog/merge.h"
#include "load/environment.h"

namespace stint {

/// The catalogue inside the binary.
Catalog bundled_catalog();

/// The folder that holds the user's own catalogues, one file each.
Result<std::string> user_catalog_folder(const Environment& environment);

/// The bundled catalogue with the user's laid over it, in the order of their names. A user
/// catalogue that cannot be read is an error that names it; a folder of them that cannot be read
/// is a warning.
Result<Loaded<Catalog>> load_catalog(const Environment& environment);

struct ListRequest {
  Filter filter;
  SortKey sort = SortKey::kPricePerGpu;
  std::optional<int> limit;  // Of types.
};

struct ListAnswer {
  Catalog catalog;        // What was asked for, best first.
  std::size_t found = 0;  // Types before the limit.
  std::string example;    // The first of them, as show_vm finds it; empty when there is none.
  // Listed providers of which only the bundled prices of one region are there, with that region.
  std::vector<std::pair<std::string, std::string>> single_regions;
  std::vector<std::string> warnings;
};

Result<ListAnswer> list_catalog(const Environment& environment, const ListRequest& request);

/// A catalogue that holds only the VM type called `name` (and only its region, if it names one),
/// with its GPU and sources.
Result<Loaded<Catalog>> show_vm(const Environment& environment, const std::string& name);

struct ImportRequest {
  std::string file;
  std::string name;      // Of the user catalogue; empty: the file's.
  std::string provider;  // For tables that do not say; empty: from the path.
  std::string date;      // Of the prices; empty: today.
  bool force = false;    // Accepts prices far below the bundled ones.
};

struct ImportAnswer {
  std::string path;  // Where it was written.
  bool replaced = false;
  std::size_t types = 0;
  std::size_t offers = 0;
  std::string example;       // One of the types, "provider/name"; empty when there is none.
  std::string assumed_date;  // Of a table's prices, when nothing said it; empty otherwise.
  std::vector<std::string> warnings;
};

/// Reads a catalogue (our JSON, our CSV or SkyPilot's CSV), checks it and keeps it among the
/// user's. Without `force`, prices must pass check_prices.
Result<ImportAnswer> import_catalog(const Environment& environment, const ImportRequest& request);

struct DiffAnswer {
  std::vector<Difference> differences;
  std::vector<std::string> warnings;
};

/// What changed from catalogue `before` to `after`. Each is "bundled", "merged" (bundled and the
/// user's), the name of a user catalogue, or a file; `provider` is for tables that do not say.
Result<DiffAnswer> diff_catalogs(const Environment& environment, const std::string& before,
                                 const std::string& after, const std::string& provider);

}  // namespace stint
