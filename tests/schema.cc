#include "schema.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace stint {

std::string schema_problem(const std::string& schema, const std::string& document) {
  const auto schema_json = nlohmann::json::parse(schema);
  const auto document_json = nlohmann::json::parse(document);
  valijson::Schema parsed;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json),
                                          parsed);
  valijson::ValidationResults results;
  const bool valid = valijson::Validator().validate(
      parsed, valijson::adapters::NlohmannJsonAdapter(document_json), &results);
  if (valid) return "";
  std::string problem;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    std::string place;
    for (const std::string& part : error.context) place += part;
    problem += place + ": " + error.description + "\n";
  }
  return problem;
}

}  // namespace stint
