#pragma once

#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/descriptor.h"
#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "provider/provider.h"
#include "supervise/run_terms.h"

namespace stint {

/// Prefix of the line that precedes the output of each start of a worker in its log.
inline const std::string kLogMark = "[stint] ";

/// A message of a worker, or its end.
struct CrewNews {
  int vm = 0;
  std::optional<Json> said = {};
  std::optional<int> ended = {};  // Exit code.
};

/// The processes of a run on its machines: on each at most one worker, which is controlled over a
/// socket in JSON lines, and one receiver of checkpoints. All end with this object, and with the
/// thread that created it. Their output goes to files.
class Crew {
 public:
  Crew(Provider& provider, std::string log_folder)
      : provider_(provider), log_folder_(std::move(log_folder)) {}
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Starts a worker on the VM, which has none. STINT_CONTROL names the socket. `mark` is a line
  /// that precedes its output.
  Status start_worker(int vm, Command command, const std::string& mark);

  /// Starts a receiver on the VM, in place of an existing one, with a line on its input.
  Status start_receiver(int vm, Command command, const std::string& input);

  bool has_worker(int vm) const { return workers_.contains(vm); }
  bool has_receiver(int vm) const { return receivers_.contains(vm); }

  /// A message that the worker no longer reads is lost; the end of the worker is reported as news.
  void send(int vm, const Json& order);

  /// Kills the processes on the VM; they report no more news.
  void end_worker(int vm);

  /// Asks the worker to end by itself.
  void terminate_worker(int vm);
  void end_all_on(int vm);

  /// News until now, waiting at most `limit` for the first, or for news of the provider.
  std::vector<CrewNews> wait(Seconds limit);

  /// The last lines that the worker on a VM printed since it started, at most this many; for error
  /// messages.
  std::vector<std::string> last_lines(int vm, std::size_t most) const;

 private:
  struct Worker {
    pid_t pid = -1;
    LineStream control = {};
  };

  Result<Descriptor> open_log(int vm, const char* role) const;
  static void read(int vm, Worker& worker, std::vector<CrewNews>& news);
  void reap(std::vector<CrewNews>& news);

  Provider& provider_;
  std::string log_folder_;
  std::map<int, Worker> workers_;
  std::map<int, pid_t> receivers_;
};

}  // namespace stint
