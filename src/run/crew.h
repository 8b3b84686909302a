#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "provider/agent/agent_link.h"
#include "provider/provider.h"
#include "run/seat.h"
#include "run/worker_output.h"
#include "supervise/run_terms.h"

namespace stint {

/// Who conducts a run, for the agents on its machines.
struct CrewSetup {
  std::string log_folder;
  std::string program;  // Stint itself, whose agents these are.
  std::string run = {};
  std::string secret = {};
  std::int64_t attempt = 1;  // Of the process that conducts the run; a later one has a higher.
  AgentTerms terms = {};
};

/// A program for a machine.
struct CrewStart {
  std::vector<std::string> words;
  std::vector<std::string> variables = {};  // "NAME=value".
  std::string folder = {};
  int rank = 0;
};

/// A message of a worker, or its end.
struct CrewNews {
  Seat worker = {};
  std::optional<Json> said = {};
  std::optional<int> ended = {};           // Exit code.
  std::optional<std::string> reason = {};  // Why it did not start, or cannot be reached.
};

/// The processes of a run on its machines, through the agent of each: workers, which send and
/// receive lines of JSON, and at most one receiver of checkpoints. All end with this object. Their
/// output goes to files. No function waits but `wait`.
class Crew {
 public:
  Crew(Provider& provider, CrewSetup setup);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Starts a worker in a seat that is free. `mark` is a line that precedes its output. That it
  /// could not start is news.
  void start_worker(Seat seat, const CrewStart& start, const std::string& mark);

  /// Starts a receiver on the VM, in place of an existing one, with a line on its input.
  void start_receiver(int vm, const CrewStart& start, const std::string& input);

  bool has_worker(Seat seat) const;
  bool has_receiver(int vm) const;

  /// The seats of all workers.
  std::vector<Seat> seats() const;

  /// A message that the worker no longer reads is lost; the end of the worker is reported as news.
  void send(Seat seat, const Json& order);

  /// Kills the worker; it reports no more news.
  void end_worker(Seat seat);

  /// Asks the worker to end by itself.
  void terminate_worker(Seat seat);

  /// Ends everything on the VM, with its agent.
  void end_all_on(int vm);

  /// News until now, waiting at most `limit` for the first, or for news of the provider.
  std::vector<CrewNews> wait(Seconds limit);

  /// The last lines that a worker printed since it started, at most this many; for error messages.
  std::vector<std::string> last_lines(Seat seat, std::size_t most) const;

 private:
  /// A machine with its agent. Each start of a process has a number of its own.
  struct Post {
    std::unique_ptr<AgentLink> link;
    int starts = 0;
    std::map<int, int> workers = {};  // Their processes, by number among the VM's.
    std::optional<int> receiver = {};
    std::optional<Seconds> away_since = {};
  };

  Post& post(int vm);
  std::optional<int> worker_in(Seat seat) const;
  void give(Post& post, AgentOrder order);
  int start(Post& post, ProcessRole role, const CrewStart& start, std::optional<std::string> input);
  void turn(int vm, Post& post, std::vector<CrewNews>& news);
  void hear(int vm, Post& post, const AgentNews& heard, std::vector<CrewNews>& news);
  static void lose_workers(int vm, Post& post, const std::optional<std::string>& reason,
                           std::vector<CrewNews>& news);
  static void look_for_silence(int vm, Post& post, std::vector<CrewNews>& news);

  Provider& provider_;
  CrewSetup setup_;
  WorkerOutput output_;
  std::map<int, Post> posts_;
};

}  // namespace stint
