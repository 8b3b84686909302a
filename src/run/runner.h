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
#include "cloud/exec_all.h"
#include "measure/measurement.h"
#include "provider/provider.h"
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
  RunTeller teller = {};     // What happened before.
  int member = 0;            // Number among runs that share machines: each has its own ports.
  std::int64_t attempt = 1;  // Of the process that conducts the run; a later one has a higher.
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
  /// Called with the time of each step that the workers of a plan do after the order of the next
  /// one, until its workers are ready.
  std::function<void(Seconds)> trained_meanwhile = {};
  /// A worker on a machine of this type ran out of memory with this many samples per micro-step.
  std::function<void(const std::string& type, int samples)> out_of_memory = {};
  /// Called after each event; may return another plan for the rest of the run.
  std::function<std::optional<Replanning>(const Supervisor&, const RunPlan&)> wish = {};
};

/// Performs the orders of the supervisor on the machines of a provider, and reports the events
/// there, until the run is over. One thread, one loop.
class Runner {
 public:
  /// `plan` is the supervisor's. An interrupt of this process stops the run in an orderly way.
  Runner(RunnerSetup setup, Provider& provider, Supervisor& supervisor, RunPlan plan,
         RunJournal journal, RunListeners listeners);

  /// After a crash: reports the present state of the machines to the supervisor, and repeats the
  /// requests that the journal has. Machines of the run that it does not know are released.
  Status take_over();

  /// Returns when the run is over; it has no machines then, unless their release failed to the end,
  /// of which the list of events tells.
  Result<RunAction> run();

 private:
  static constexpr Seconds kRound = 50 * kMillisecond;  // Of the loop, at the longest.

  /// Whether the script takes orders, which its first message shows.
  enum class Script { kUnknown, kTakesOrders, kPlain };

  /// A worker's report of the exception that ended it.
  struct LastWords {
    double time = 0;  // On the boot-time clock of the computer, in seconds.
    std::string text;
  };

  /// A worker that ended.
  struct Failure {
    Seat worker = {};
    int code = 0;
    Seconds at = {};  // Boot time.
  };

  struct WorkerState {
    bool ready = false;      // It is connected and takes orders.
    bool seen_lost = false;  // It lost a peer.
    Seconds lost_at = {};
    std::optional<LastWords> last_words = {};
  };

  struct Machine {
    RunMachines kind = {};  // By the latest plan that has a slot for it.
    std::string address = {};
    std::string waits_for = {};  // While it is pending.
    bool up = false;
    bool noticed = false;
    bool gone = false;
    bool billed = false;
    int missing = 0;  // Consecutive lists that did not have it, since it was up.
  };

  /// The time in which the provider does not answer.
  struct Silence {
    Seconds since;
    Seconds waited;  // Without suspends.
    Seconds seen;    // When that was last counted.
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

  void observe();
  Result<MachineList> first_list();
  void take_over_machines(const MachineList& list);
  void note_silence(const std::optional<EngineTrouble>& trouble);
  void read_list(const MachineList& list, Seconds listed_at);
  void reconcile(const MachineList& list);
  void note_owed(std::vector<OwedRelease> owed);
  void settle();
  MachineOrder order_for(int vm) const;
  void look_at(const MachineState& state);
  void on_up(int vm, const MachineState& state);
  void on_gone(int vm, const MachineState& state);
  void look_at_price(const MachineState& state);
  void keep_receivers();
  void hear(const CrewNews& news);
  void hear_message(Seat seat, const std::string& kind, const Json& facts);
  void on_ready(Seat seat, const Json& facts);
  std::optional<std::string> wrong_steps(const Json& facts) const;
  void on_out_of_memory(int vm, const Json& facts);
  void on_gang_news(const GangNews& news);
  void on_step(const GangStep& step);
  void note_step(const GangNews& news);
  void on_step_before(const GangNews& news);
  void on_ended(Seat seat, int code);
  void on_worker_gone(Seat seat, const std::string& reason);
  void judge_ends(Seconds listed_at);
  void judge_end(Seat seat, int code);
  void look_for_stuck();
  void take_for_plain();
  void hear_plain(Seat seat, const std::string& kind, const Json& facts);
  void on_own_checkpoint(const Json& facts);
  void look_for_failure();
  std::string last_words_of(Seat seat) const;
  bool restarts_all() const;

  std::optional<WorkerLayout> layout_of(std::size_t workers) const;
  void start_worker(std::size_t rank);
  RankPlace place_of(std::size_t rank) const;
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
  Provider& provider_;
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
  std::map<Seat, WorkerState> workers_;
  Gang gang_;
  Gang before_;           // The gang that trained last.
  TrainOrder training_;   // The order to the gang,
  Seconds step_time_;     // and its predicted step time.
  bool ordered_ = false;  // The gang was ordered to train.
  Script script_ = Script::kUnknown;
  std::set<Seat> ended_well_;  // Workers of the gang.
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
  std::optional<Silence> silence_;   // The provider does not answer.
  std::vector<Failure> unchecked_;   // Workers that ended since the last list.
  std::vector<OwedRelease> owed_;    // Releases that are not confirmed.
  std::set<std::string> told_owed_;  // Those that the user was told of.
  std::set<int> strangers_;          // Numbers of machines of this run that it did not know.
  Seconds awake_;                    // When the loop last ran; a run begins at 0.
  Seconds ticked_;
  int plans_;
};

}  // namespace stint
