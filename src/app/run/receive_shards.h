#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace stint {

struct ReceiveRequest {
  std::string folder;
  std::string address = "127.0.0.1";  // The only address to listen on.
  int port = 0;                       // 0: any.
  Bytes memory = 4 * kGiB;
  int input = 0;  // Descriptor of a stream whose first line is the secret of the run.
};

/// Keeps shards of a run's checkpoints for its workers until the process ends; returns only when it
/// cannot. `listening` gets the port as soon as workers may connect.
Status receive_shards(const ReceiveRequest& request,
                      const std::function<void(int port)>& listening);

}  // namespace stint
