#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/line_log.h"
#include "checkpoint/checkpoint_files.h"
#include "measure/measurement.h"
#include "run/crew.h"
#include "run/gang.h"
#include "run/run_ledger.h"
#include "run/run_record.h"
#include "run/run_steps.h"
#include "run/worker_layout.h"
#include "run/worker_orders.h"
#include "supervise/supervisor.h"

namespace stint {

/// Inputs of the runner other than the supervisor.
struct RunnerSetup {
  RunRecord record;
  std::string folder;                  // Folder of the run.
  std::string program;                 // Stint itself, which receives checkpoints.
  std::vector<std::string> variables;  // "NAME=value", for workers.
  int plans = 1;                       // Number of plans made so far.
  const Clock* clock = nullptr;
  RunTeller teller = {};  // What happened before.
  int member = 0;         // Number among runs that share machines: each has its own ports.
};

/// An answer to the supervisor's request for a new plan.
struct Replanning {
  std::optional<RunPlan> plan = {};  // Absent: it is best to stay.
  std::string reason;                // The arithmetic, in words.
};

/// Callbacks for progress and for new plans.
struct RunListeners {
  /// Called with each event and the actions that followed.
  std::function<void(const RunEvent&, const std::vector<RunAction>&)> happened;
  std::function<Replanning(const Supervisor&, const RunPlan&, const std::string& reason)> replan;
  /// Called with each step and its measurements, and with the step from which workers start.
  std::function<void(const GangNews&)> trained = {};
  /// A worker on a machine of this type ran out of memory with this many samples per micro-step.
  std::function<void(const std::string& type, int samples)> out_of_memory = {};
  /// Called after each event; may return another plan for the rest of the run.
  std::function<std::optional<Replanning>(const Supervisor&, const RunPlan&)> wish = {};
};

/// Performs the orders of the supervisor on the emulated cloud, and reports the events
/// there, until the run is over. One thread, one loop.
class Runner {
 public:
  /// `plan` is the supervisor's. An interrupt of this process stops the run in an orderly way.
  Runner(RunnerSetup setup, const RunCloud& cloud, Supervisor& supervisor, RunPlan plan,
         RunJournal journal, RunListeners listeners);

  /// After a crash: reports the present state of the machines to the supervisor. Machines of the
  /// run that the journal does not know are released.
  Status take_over();

  /// Returns when the run is over; it has no machines then, unless their release failed to the end,
  /// of which the list of events tells.
  Result<RunAction> run();

 private:
  static constexpr Seconds kLook = 200 * kMillisecond;  // Between two polls of the cloud.

  /// Whether the script takes orders, which its first message shows.
  enum class Script { kUnknown, kTakesOrders, kPlain };

  /// A worker's report of the exception that ended it.
  struct LastWords {
    double time = 0;  // On the boot-time clock of the computer, in seconds.
    std::string text;
  };

  /// A worker of a plain script that failed.
  struct Failure {
    int vm = 0;
    int code = 0;
  };

  struct Machine {
    RunMachines kind = {};  // By the latest plan that has a slot for it.
    std::string address = {};
    bool noticed = false;
    bool gone = false;
    bool billed = false;
    int missing = 0;         // Consecutive looks at the cloud that did not list it.
    bool ready = false;      // Its worker is connected and takes orders.
    bool seen_lost = false;  // Its worker lost a peer.
    Seconds lost_at = {};
    std::optional<LastWords> last_words = {};
  };

  /// Looks at the cloud that failed, since the last that did not.
  struct CloudTrouble {
    int failures = 0;
    Seconds since;
    Seconds waited;  // In calls and in the pauses between them; a suspend is neither.
    Seconds retry_at;
  };

  /// A machine that is to be released, though it was not possible so far.
  struct OwedRelease {
    int failures = 0;
    Seconds retry_at;
    std::string reason;  // Of the last failure.
  };

  void happen(RunEvent event);
  void handle_queue();
  void note_sleep();
  void perform(const RunAction& action);
  void launch(const RunAction& action);
  void release(int vm);
  void train(const RunAction& action);
  void order_training();
  void save(const RunAction& action);
  void replan(const std::string& reason);
  bool plan_pending() const;
  void follow(const Replanning& thought);
  void ask_for_wishes();
  void adopt(int number);
  void end_workers();

  bool look_at_cloud();
  Seconds next_look() const;
  Result<ClusterStatus> first_status();
  Result<ClusterStatus> ask_for_status();
  void on_cloud_failure(const Error& error, Seconds call);
  void reconcile(const ClusterStatus& status);
  void release_owed();
  void settle();
  void look_at(const VmStatus& vm);
  void look_at_price(const VmStatus& vm);
  void keep_receivers();
  void hear(const CrewNews& news);
  void hear_message(int vm, const std::string& kind, const Json& facts);
  void on_ready(int vm, const Json& facts);
  std::optional<std::string> wrong_steps(const Json& facts) const;
  void on_out_of_memory(int vm, const Json& facts);
  void on_gang_news(const GangNews& news);
  void on_step(const GangStep& step);
  void note_step(const GangNews& news);
  void on_ended(int vm, int code);
  void judge_end(int vm, int code);
  void look_for_stuck();
  void take_for_plain();
  void hear_plain(int vm, const std::string& kind, const Json& facts);
  void on_own_checkpoint(const Json& facts);
  void look_for_failure();
  std::string last_words_of(int vm) const;
  bool restarts_all() const;

  std::optional<WorkerLayout> layout_of(std::size_t workers) const;
  void start_worker(std::size_t rank);
  bool keeps_in_folder() const;
  std::vector<ReceiverAddress> receivers() const;
  Json place() const;
  int receiver_port() const;
  /// The number of a machine by its name in the cluster; −1 when it is not one of this run.
  static int number_of(const std::string& name);

  int slot_of(int vm) const;
  const RunMachines& machines_of(int slot) const;
  Seconds now() const;
  void note(Measurement measurement);
  Status write(const Measurement& measurement);
  void fail(const Error& error);

  RunnerSetup setup_;
  const RunCloud& cloud_;
  Supervisor& supervisor_;
  RunPlan plan_;
  std::map<int, RunPlan> new_plans_;  // By number, until the supervisor receives them.
  RunLedger ledger_;
  std::optional<LineLog> measurements_;
  std::optional<Seconds> measure_again_;  // Measurements are dropped until then.
  RunListeners listeners_;
  Crew crew_;

  std::deque<RunEvent> queue_;
  RunSteps steps_;      // Those of the gang that are not yet events.
  Seconds told_steps_;  // When steps were last made an event because of their number or time.
  std::map<int, Machine> machines_;  // By number.
  Gang gang_;
  Gang before_;           // The gang that trained last.
  TrainOrder training_;   // The order to the gang,
  Seconds step_time_;     // and its predicted step time.
  bool ordered_ = false;  // The gang was ordered to train.
  Script script_ = Script::kUnknown;
  std::set<int> ended_well_;  // VMs of the gang.
  // Failures of the gang since `failed_at_`, in the order they were observed.
  std::vector<Failure> failures_;
  Seconds failed_at_;
  std::int64_t own_checkpoint_ = 0;  // The latest step that a plain script saved.
  std::optional<int> capacity_;
  std::map<std::string, DollarsPerSecond> prices_;  // Spot prices, by type.
  int save_ = 0;                                    // Number of the checkpoint request in progress.
  Seconds save_since_;
  std::optional<Error> failure_;
  std::optional<RunAction> end_;
  std::optional<CloudTrouble> trouble_;  // The cloud does not answer.
  std::vector<Failure> unchecked_;       // Workers that ended meanwhile.
  std::map<int, OwedRelease> owed_;      // By machine.
  std::set<int> strangers_;              // Machines of this run that it did not know.
  Seconds awake_;                        // When the loop last ran; a run begins at 0.
  Seconds looked_;
  Seconds ticked_;
  int plans_;
};

}  // namespace stint
