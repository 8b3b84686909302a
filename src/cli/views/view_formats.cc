#include "cli/views/view_formats.h"

#include "cli/views/catalog_views.h"
#include "cli/views/import_views.h"
#include "cli/views/layout_score_views.h"
#include "cli/views/layout_views.h"
#include "cli/views/machine_views.h"
#include "cli/views/model_views.h"
#include "cli/views/plan_views.h"
#include "cli/views/risk_views.h"
#include "cli/views/run_views.h"
#include "cli/views/simulation_views.h"

namespace stint::cli {
namespace {

template <class View>
Json json_schema() {
  return schema_document(View::kSchema, View::kTitle, SchemaWalk::schema_of<View>());
}

template <class View>
Result<std::string> rewrite(const std::string& text) {
  const auto loaded = read_document<View>(text, View::kSchema, "document");
  if (!loaded.ok()) return loaded.error();
  return write_document(loaded->noun, View::kSchema);
}

template <class View>
constexpr ViewFormat format(const char* name) {
  return {name, View::kSchema, json_schema<View>, rewrite<View>};
}

}  // namespace

std::span<const ViewFormat> view_formats() {
  static constexpr ViewFormat kFormats[] = {format<CatalogDiffView>("catalog-diff"),
                                            format<CatalogImportView>("catalog-import"),
                                            format<CleaningView>("cleaning"),
                                            format<ClustersView>("clusters"),
                                            format<DoctorView>("doctor"),
                                            format<ExplanationView>("explanation"),
                                            format<LayoutsView>("layouts"),
                                            format<ModelsView>("models"),
                                            format<NcclImportView>("nccl-import"),
                                            format<ProbeView>("probe"),
                                            format<ProbesView>("probes"),
                                            format<ReplayView>("replay"),
                                            format<RiskFitView>("risk_fit"),
                                            format<SavesView>("risk_saves"),
                                            format<SimulationView>("risk_simulate"),
                                            format<SurviveView>("risk_survive"),
                                            format<RunReportView>("run-report"),
                                            format<RunsView>("runs"),
                                            format<RunsTogetherView>("runs-together"),
                                            format<SearchView>("search_outcome"),
                                            format<TraceImportView>("trace-import"),
                                            format<LayoutScoresView>("validation_layout"),
                                            format<RevocationsView>("validation_revocations"),
                                            format<VersionView>("version"),
                                            format<WhatifView>("whatif")};
  return kFormats;
}

}  // namespace stint::cli
