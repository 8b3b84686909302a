// Our flow network beside SimGrid on the same questions: what each answers, and how long it takes.
// Prints; asserts only that the answers agree.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>
#include <xbt/log.h>

#include "base/check.h"
#include "base/random.h"
#include "bench/wall_time.h"
#include "predict/collective.h"
#include "simulate/flow_network.h"

namespace stint {
namespace {

namespace s4u = simgrid::s4u;

constexpr int kHosts = 64;
constexpr int kServers = 4;
constexpr int kRepeats = 7;
constexpr Bytes kChunk = kMiB;
constexpr Bytes kPayload = kHosts * kChunk;
constexpr Seconds kLatency = 50 * kMicrosecond;

/// What both simulators answered, and how long they took.
struct Answer {
  Seconds predicted;
  Seconds wall;
};

/// NICs of 10 Gbit/s; for the second question every fourth host has a quarter of that.
BytesPerSecond nic(int host, bool equal) {
  const double share = equal || host % 4 != 3 ? 1 : 0.25;
  return share * 10 * kGbit / kSecond;
}

/// A message of a round.
struct Message {
  int from = 0;
  int to = 0;
};

/// Rounds of messages of one chunk; a round starts when the one before has arrived.
using Rounds = std::vector<std::vector<Message>>;

/// 2 (n − 1) rounds in which each host sends a chunk to the next.
Rounds ring_rounds() {
  std::vector<Message> round;
  for (int host = 0; host < kHosts; ++host) round.push_back({host, (host + 1) % kHosts});
  return Rounds(2 * (kHosts - 1), round);
}

/// Every host pushes a chunk to each of the first few hosts, the servers, and pulls one back.
Rounds server_rounds() {
  Rounds rounds(2);
  for (int host = kServers; host < kHosts; ++host) {
    for (int server = 0; server < kServers; ++server) {
      rounds[0].push_back({host, server});
      rounds[1].push_back({server, host});
    }
  }
  return rounds;
}

/// Messages between random pairs, all at once.
Rounds random_rounds() {
  constexpr int kSeed = 41;
  constexpr int kMessages = 1000;
  Random random(kSeed);
  std::vector<Message> round;
  for (int i = 0; i < kMessages; ++i) {
    const int from = random.below(kHosts);
    round.push_back({from, (from + 1 + random.below(kHosts - 1)) % kHosts});
  }
  return {round};
}

/// Starts the flows and returns when the last has arrived.
void run_round(FlowNetwork& network, const std::vector<FlowNetwork::RouteId>& routes) {
  std::size_t left = routes.size();
  for (const auto route : routes) network.start(kChunk, kLatency, route);
  while (left > 0) left -= network.advance(network.next_change()).size();
}

Seconds ours_once(const Rounds& rounds, bool equal) {
  FlowNetwork network;
  std::array<FlowNetwork::ResourceId, kHosts> out{};
  std::array<FlowNetwork::ResourceId, kHosts> in{};
  for (int host = 0; host < kHosts; ++host) {
    out.at(static_cast<std::size_t>(host)) = network.add_resource(nic(host, equal));
    in.at(static_cast<std::size_t>(host)) = network.add_resource(nic(host, equal));
  }
  for (const std::vector<Message>& round : rounds) {
    std::vector<FlowNetwork::RouteId> routes;
    for (const Message& message : round) {
      const std::array<FlowNetwork::Crossing, 2> path{
          {{.resource = out.at(static_cast<std::size_t>(message.from))},
           {.resource = in.at(static_cast<std::size_t>(message.to))}}};
      routes.push_back(network.add_route(path));
    }
    run_round(network, routes);
  }
  return network.now();
}

Answer ours(const Rounds& rounds, bool equal) {
  Answer answer;
  answer.wall =
      wall_time_of(kRepeats, 1, [&] { answer.predicted = ours_once(rounds, equal); }).median;
  return answer;
}

/// The ring as simulate/ plays it: one flow through every NIC.
Answer ours_as_one_flow() {
  Answer answer;
  answer.wall = wall_time_of(kRepeats, 20, [&] {
                  FlowNetwork network;
                  std::vector<FlowNetwork::Crossing> path;
                  for (int i = 0; i < 2 * kHosts; ++i) {
                    path.push_back({.resource = network.add_resource(nic(0, true))});
                  }
                  const double steps = 2 * (kHosts - 1);
                  network.start(steps * kChunk, steps * kLatency, network.add_route(path));
                  while (std::isfinite(network.next_change().in(kSecond))) {
                    network.advance(network.next_change());
                  }
                  answer.predicted = network.now();
                }).median;
  return answer;
}

/// Adds hosts to a star: every one by a link out and a link in, each of half the latency.
std::vector<s4u::Host*> add_hosts(s4u::NetZone* zone, const std::string& name, bool equal) {
  std::vector<s4u::Host*> hosts;
  for (int i = 0; i < kHosts; ++i) {
    const std::string label = fmt::format("{}-{}", name, i);
    s4u::Host* host = zone->create_host(label, 1e9);
    const double bandwidth = nic(i, equal).in(kByte / kSecond);
    s4u::Link* out = zone->create_link(label + "-out", bandwidth);
    s4u::Link* in = zone->create_link(label + "-in", bandwidth);
    out->set_latency((kLatency / 2).in(kSecond));
    in->set_latency((kLatency / 2).in(kSecond));
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {s4u::LinkInRoute(out)},
                    false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(in)}, false);
    hosts.push_back(host);
  }
  return hosts;
}

/// One actor starts the messages of a round and waits for all. The platform is there already.
Answer simgrid_answer(const Rounds& rounds, const std::vector<s4u::Host*>& hosts) {
  const auto host = [&](int i) { return hosts[static_cast<std::size_t>(i)]; };
  const auto play = [&] {
    for (const std::vector<Message>& round : rounds) {
      std::vector<s4u::CommPtr> messages;
      for (const Message& message : round) {
        messages.push_back(s4u::Comm::sendto_async(host(message.from), host(message.to),
                                                   static_cast<std::uint64_t>(kChunk.in(kByte))));
      }
      s4u::Comm::wait_all(messages);
    }
  };
  Answer answer;
  answer.wall = wall_time_of(kRepeats, 1, [&] {
                  const double start = s4u::Engine::get_clock();
                  s4u::Actor::create("driver", hosts.front(), play);
                  s4u::Engine::get_instance()->run();
                  answer.predicted = (s4u::Engine::get_clock() - start) * kSecond;
                }).median;
  return answer;
}

constexpr double kSimgridClose = 1e-6;  // It rounds times to 1e-9 s.

bool close(Seconds a, Seconds b, double relative) { return std::abs(a / b - 1) < relative; }

void print_heading() {
  fmt::print(
      "The same flows in our network and in SimGrid (CM02 without its TCP corrections,\n"
      "network/optim:Full): {} hosts on a star, 10 Gbit/s each (unequal: every fourth a quarter\n"
      "of it), 50 us, messages of 1 MiB. Ours builds its network within the time; SimGrid's\n"
      "platform is built before. Milliseconds, median of {} runs.\n",
      kHosts, kRepeats);
  fmt::print("{:<37}{:>12}{:>12}{:>13}{:>12}{:>14}\n", "question", "ours", "SimGrid", "closed form",
             "ours took", "SimGrid took");
}

std::string milliseconds(std::optional<Seconds> time) {
  return time ? fmt::format("{:.4f}", time->in(kMillisecond)) : "";
}

void print_row(const char* question, const Answer& ours, const std::optional<Answer>& simgrid,
               std::optional<Seconds> closed_form) {
  std::optional<Seconds> predicted;
  std::optional<Seconds> wall;
  if (simgrid) {
    predicted = simgrid->predicted;
    wall = simgrid->wall;
  }
  fmt::print("{:<37}{:>12}{:>12}{:>13}{:>12}{:>14}\n", question, milliseconds(ours.predicted),
             milliseconds(predicted), milliseconds(closed_form), milliseconds(ours.wall),
             milliseconds(wall));
  std::fflush(stdout);
}

void run(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  xbt_log_control_set("xbt_cfg.thresh:warning");
  // The plain fluid model: none of the corrections that SimGrid fits to TCP. Its lazy updates
  // (version 3.32) let the slow server take more than its NIC carries, so all are full.
  for (const char* setting :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
        "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0",
        "network/optim:Full"}) {
    s4u::Engine::set_config(setting);
  }
  s4u::NetZone* zone = s4u::create_star_zone("star");
  const std::vector<s4u::Host*> equal = add_hosts(zone, "equal", true);
  const std::vector<s4u::Host*> unequal = add_hosts(zone, "unequal", false);
  zone->seal();

  print_heading();
  const Link link{.inverse_bandwidth = 1.0 / nic(0, true), .latency = kLatency};
  const Seconds closed_form = ring_allreduce_time(kPayload, kHosts, link);
  const Answer one_flow = ours_as_one_flow();
  print_row("ring of 64, as one flow", one_flow, {}, closed_form);
  CHECK(close(one_flow.predicted, closed_form, 1e-9));

  const Answer ring = ours(ring_rounds(), true);
  const Answer ring_simgrid = simgrid_answer(ring_rounds(), equal);
  print_row("ring of 64, 8064 messages", ring, ring_simgrid, closed_form);
  CHECK(close(ring.predicted, closed_form, 1e-9));
  CHECK(close(ring_simgrid.predicted, closed_form, kSimgridClose));

  const Answer servers = ours(server_rounds(), false);
  const Answer servers_simgrid = simgrid_answer(server_rounds(), unequal);
  print_row("4 servers, 60 workers, unequal NICs", servers, servers_simgrid, {});
  CHECK(close(servers_simgrid.predicted, servers.predicted, kSimgridClose));

  const Answer crowd = ours(random_rounds(), false);
  const Answer crowd_simgrid = simgrid_answer(random_rounds(), unequal);
  print_row("1000 random messages, unequal NICs", crowd, crowd_simgrid, {});
  CHECK(close(crowd_simgrid.predicted, crowd.predicted, kSimgridClose));
}

}  // namespace
}  // namespace stint

int main(int argc, char** argv) { stint::run(argc, argv); }
