#pragma once

#include <compare>
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

/// The place of a worker: the first on a VM, unless it says otherwise.
struct Seat {
  int vm = 0;
  int local = 0;  // Number among the workers of the VM.

  Seat() = default;
  Seat(int number, int among = 0) : vm(number), local(among) {}
  auto operator<=>(const Seat&) const = default;
};

/// The end of the names of the files with the output of workers.
inline const std::string kWorkerLogEnd = "-worker.log";

/// The name of the file with the output of a worker.
std::string worker_log_name(Seat seat);

/// A message of a worker, or its end.
struct CrewNews {
  Seat worker = {};
  std::optional<Json> said = {};
  std::optional<int> ended = {};  // Exit code.
};

/// The processes of a run on its machines: workers, which are controlled over sockets in JSON
/// lines, and on each machine at most one receiver of checkpoints. All end with this object, and
/// with the thread that created it. Their output goes to files.
class Crew {
 public:
  Crew(Provider& provider, std::string log_folder)
      : provider_(provider), log_folder_(std::move(log_folder)) {}
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Starts a worker in a seat that is free. STINT_CONTROL names the socket. `mark` is a line that
  /// precedes its output.
  Status start_worker(Seat seat, Command command, const std::string& mark);

  /// Starts a receiver on the VM, in place of an existing one, with a line on its input.
  Status start_receiver(int vm, Command command, const std::string& input);

  bool has_worker(Seat seat) const { return workers_.contains(seat); }
  bool has_receiver(int vm) const { return receivers_.contains(vm); }

  /// The seats of all workers.
  std::vector<Seat> seats() const;

  /// A message that the worker no longer reads is lost; the end of the worker is reported as news.
  void send(Seat seat, const Json& order);

  /// Kills the worker; it reports no more news.
  void end_worker(Seat seat);

  /// Asks the worker to end by itself.
  void terminate_worker(Seat seat);

  /// Kills all processes on the VM.
  void end_all_on(int vm);

  /// News until now, waiting at most `limit` for the first, or for news of the provider.
  std::vector<CrewNews> wait(Seconds limit);

  /// The last lines that a worker printed since it started, at most this many; for error messages.
  std::vector<std::string> last_lines(Seat seat, std::size_t most) const;

 private:
  struct Worker {
    pid_t pid = -1;
    LineStream control = {};
  };

  static void read(Seat seat, Worker& worker, std::vector<CrewNews>& news);
  void reap(std::vector<CrewNews>& news);

  Provider& provider_;
  std::string log_folder_;
  std::map<Seat, Worker> workers_;
  std::map<int, pid_t> receivers_;
};

}  // namespace stint
