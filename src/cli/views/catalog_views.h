#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/merge.h"
#include "cli/views/view.h"

namespace stint::cli {

/// `stint catalog import`.
struct CatalogImportView {
  static constexpr const char* kSchema = "stint.catalog-import/1";
  static constexpr const char* kTitle = "An imported catalogue";
  std::string path;
  bool replaced = false;
  int types = 0;
  int offers = 0;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, CatalogImportView>& it) {
  walk.field("path", it.path, "File that was written.");
  walk.field("replaced", it.replaced, "Whether a file of that name existed.");
  walk.field("types", it.types, "Number of VM types.", kCount);
  walk.field("offers", it.offers, "Number of offers.", kCount);
}

struct DifferenceView {
  Difference::Kind change = Difference::Kind::kChanged;
  std::string what;
  std::optional<std::string> before;
  std::optional<std::string> after;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, DifferenceView>& it) {
  walk.field("change", it.change, "Kind of the difference.");
  walk.field("what", it.what, "VM type, offer, price or figure.");
  walk.field("before", it.before, "Value in the first catalogue.");
  walk.field("after", it.after, "Value in the second catalogue.");
}

/// `stint catalog diff`.
struct CatalogDiffView {
  static constexpr const char* kSchema = "stint.catalog-diff/1";
  static constexpr const char* kTitle = "Differences of two catalogues";
  std::vector<DifferenceView> differences;
};

template <class Walk>
void describe(Walk& walk, Like<Walk, CatalogDiffView>& it) {
  walk.field("differences", it.differences, "Differences, in the order of the first catalogue.",
             kList);
}

}  // namespace stint::cli
