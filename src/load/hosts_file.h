#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/ssh/ssh_host.h"

namespace stint {

/// Reads the hosts of a file such as
///
///   hosts:
///     - name: box1
///       address: 10.0.0.1
///       user: train
///       port: 2222
///       gpus: 2
///       type: local.large
///       market: on-demand
///       price: 0.40 USD/h
///     - box2
///
/// Of a host only the name is required. Errors are bad input and name file, line and column.
Result<std::vector<SshHost>> parse_hosts_file(std::string_view text, const std::string& file);
Result<std::vector<SshHost>> read_hosts_file(const std::string& path);

}  // namespace stint
