#include "load/sharded_tables.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace stint {

Result<std::vector<ShardedCase>> read_sharded_cases(ShardedFormat format,
                                                    const std::vector<std::string>& files,
                                                    const Catalog& catalog) {
  std::vector<ShardedCase> all;
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (!text.ok()) return text.error();
    const auto rows = read_sharded(format, *text, file);
    if (!rows.ok()) return rows.error();
    for (ShardedCase& it : sharded_cases(*rows, catalog)) all.push_back(std::move(it));
  }
  return all;
}

Result<std::vector<ShardedCase>> read_sharded_words(const char* option,
                                                    const std::vector<std::string>& words,
                                                    const Catalog& catalog) {
  std::vector<ShardedCase> all;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    std::optional<ShardedFormat> format;
    std::vector<std::string> names;
    for (const auto& [value, name] : names_of(ShardedFormat{})) {
      names.emplace_back(name);
      if (equals != std::string::npos && word.substr(0, equals) == name) format = value;
    }
    if (!format) {
      return bad_usage(fmt::format("{} must be FORMAT=FILE with a format of {}, not '{}'", option,
                                   join(names, ", "), printable(word)));
    }
    auto cases = read_sharded_cases(*format, {word.substr(equals + 1)}, catalog);
    if (!cases.ok()) return cases.error();
    for (ShardedCase& it : *cases) all.push_back(std::move(it));
  }
  return all;
}

Result<ShardedPriors> learned_priors(const std::vector<ShardedCase>& cases) {
  CasePointers rows;
  for (const ShardedCase& it : cases) {
    if (is_measured(it)) rows.push_back(&it);
  }
  if (rows.empty()) return physical_priors();
  const auto model = ShardedStepModel::fit(rows, physical_priors());
  if (!model.ok()) return model.error();
  return model->carried();
}

}  // namespace stint
