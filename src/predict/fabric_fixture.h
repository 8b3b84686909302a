#pragma once

#include "predict/fabric.h"

namespace stint {

/// Networks with round numbers, for tests.
inline NetworkKnowledge round_networks() {
  NetworkKnowledge known;
  known.physics.transports[TransportFamily::kTcp] = {.efficiency = {0.8, 0.5},
                                                     .host = 0.1,
                                                     .step_share = {1, 0.3},
                                                     .by_vms = {0.05, 0.2},
                                                     .by_workers = {0.1, 0.3},
                                                     .depth = {-2, 1},
                                                     .latency = {-8, 0.6},
                                                     .server = 0.3};
  known.physics.transports[TransportFamily::kRdma] = {.efficiency = {0.8, 0.3},
                                                      .host = 0,
                                                      .step_share = {0.5, 0.3},
                                                      .by_vms = {0.05, 0.2},
                                                      .by_workers = {0, 0.2},
                                                      .depth = {-3, 1},
                                                      .latency = {-10, 0.6},
                                                      .server = 0.3};
  known.physics.insides[InsideLinkKind::kPcie] = {.efficiency = {0.25, 0.7}, .rate = 16};
  known.physics.insides[InsideLinkKind::kNvlink] = {.efficiency = {0.5, 0.5}, .rate = 150};
  known.physics.insides[InsideLinkKind::kOther] = {.efficiency = {0.5, 0.7}, .rate = 100};
  known.physics.distance = {
      .rate = 0.5, .workers = 0.25, .transport = 2, .inside = 2, .cluster = 1};
  known.unknown.mean.unhidden = -0.7;
  known.unknown.mean.cost = 3;
  known.unknown.deviation.cost = 2;
  return known;
}

}  // namespace stint
