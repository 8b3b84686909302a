#include "solver/matching.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/maximum_weighted_matching.hpp>
#include <exception>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/check.h"

namespace stint {
namespace {

using Graph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                          boost::property<boost::edge_weight_t, std::int64_t>>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;
using IndexMap = boost::property_map<Graph, boost::vertex_index_t>::const_type;
using MateMap = boost::iterator_property_map<std::vector<Vertex>::iterator, IndexMap>;
using PathFinder = boost::weighted_augmenting_path_finder<Graph, MateMap, IndexMap>;

constexpr std::int64_t kWeightMax = 1'000'000'000'000'000;
constexpr std::int64_t kWhole = 4;  // Factor on weights that makes halves whole.

Graph graph_of(int count, std::span<const MatchEdge> edges) {
  Graph graph(static_cast<std::size_t>(count));
  std::set<std::pair<int, int>> known;
  for (const MatchEdge& edge : edges) {
    CHECK(edge.first >= 0 && edge.first < count);
    CHECK(edge.second >= 0 && edge.second < count);
    CHECK(edge.first != edge.second);
    CHECK(std::abs(edge.weight) <= kWeightMax);
    CHECK(known.insert(std::minmax(edge.first, edge.second)).second);
    if (edge.weight <= 0) continue;
    boost::add_edge(static_cast<Vertex>(edge.first), static_cast<Vertex>(edge.second),
                    kWhole * edge.weight, graph);
  }
  return graph;
}

/// Blossoms of the library own each other in cycles, so that they would never be freed.
void break_circles(const PathFinder& finder, const Graph& graph) {
  for (Vertex vertex = 0; vertex < boost::num_vertices(graph); ++vertex) {
    std::vector<PathFinder::blossom_ptr_t> open{finder.in_top_blossom(vertex)};
    while (!open.empty()) {
      const PathFinder::blossom_ptr_t blossom = open.back();
      open.pop_back();
      open.insert(open.end(), blossom->sub_blossoms.begin(), blossom->sub_blossoms.end());
      blossom->father.reset();
      blossom->sub_blossoms.clear();
    }
  }
}

/// The library's own loop, with an end: it finds one improvement after the other, each after at
/// most as many changes of prices as there are vertices, edges and blossoms to be reached.
Result<std::vector<Vertex>> mates_of(const Graph& graph) {
  const std::size_t count = boost::num_vertices(graph);
  const std::size_t changes_max = 100 + 4 * (count + boost::num_edges(graph));
  std::vector<Vertex> mates(count, boost::graph_traits<Graph>::null_vertex());
  if (boost::num_edges(graph) == 0) return mates;  // The library overflows without a weight.
  const IndexMap index = boost::get(boost::vertex_index, graph);
  const MateMap map(mates.begin(), index);
  PathFinder finder(graph, map, index);
  bool endless = false;
  for (std::size_t improvements = 0; improvements < count && !endless; ++improvements) {
    std::size_t changes = 0;
    bool improved = finder.augment_matching();
    while (!improved && !endless && finder.adjust_dual()) {
      endless = ++changes > changes_max;
      improved = finder.augment_matching();
    }
    if (!improved) break;
  }
  finder.get_current_matching(map);
  break_circles(finder, graph);
  if (endless) return failed(fmt::format("the matching of {} items does not terminate", count));
  return mates;
}

}  // namespace

Result<std::vector<MatchEdge>> maximum_weight_matching(int count,
                                                       std::span<const MatchEdge> edges) {
  CHECK(count >= 0);
  const Graph graph = graph_of(count, edges);
  std::vector<MatchEdge> chosen;
  try {
    const auto mates = mates_of(graph);
    if (!mates.ok()) return mates.error();
    for (const MatchEdge& edge : edges) {
      const bool taken =
          (*mates)[static_cast<std::size_t>(edge.first)] == static_cast<Vertex>(edge.second);
      if (taken && edge.weight > 0) chosen.push_back(edge);
    }
  } catch (const std::exception& error) {
    return failed(fmt::format("the matching of {} items failed: {}", count, error.what()));
  }
  return chosen;
}

}  // namespace stint
