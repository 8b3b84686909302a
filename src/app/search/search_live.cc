#include "app/search/search_live.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "app/search/move_forecast.h"
#include "base/check.h"
#include "base/normal.h"

namespace stint {
namespace {

constexpr std::size_t kWarmUp = 2;      // Steps on a setup that do not count.
constexpr std::size_t kLosses = 10;     // Steps whose mean loss counts.
constexpr int kNoiseSteps = 5;          // Measured ones that make a record.
constexpr int kUnsettledMax = 4;        // Windows, after which the user is warned.
constexpr double kLooks = 10;           // Decisions over the whole training.
constexpr double kGainMoved = 0.05;     // Smallest change of a step's worth that is passed on.
constexpr double kFarther = 1.25;       // A goal that was not reached is moved by this factor,
constexpr double kFarthest = 2;         // up to this total.
constexpr std::int64_t kLastSteps = 6;  // In which the search decides whether the goal is reached.
constexpr std::int64_t kMoveSteps = 2;  // Within this distance of the end a move is given up.
constexpr double kWayMax = 0.999;
constexpr double kOffGoal = 0.01;  // Share of the goal by which the end of the steps may miss it.

Seconds median(std::vector<Seconds> times) {
  CHECK(!times.empty());
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

DollarsPerSecond rate_of(const Supervisor& supervisor) {
  DollarsPerSecond rate;
  if (!supervisor.attempt()) return rate;
  for (const int vm : supervisor.attempt()->vms) {
    rate += supervisor.vms()[static_cast<std::size_t>(vm)].price;
  }
  return rate;
}

bool is_training(const Supervisor& supervisor) {
  const auto& attempt = supervisor.attempt();
  return attempt && attempt->training && !attempt->broken;
}

TimeRange step_range(const SearchOutlook& outlook) {
  return {.mean = outlook.step_mean * kSecond,
          .p10 = outlook.step_p10 * kSecond,
          .p90 = outlook.step_p90 * kSecond};
}

}  // namespace

LiveSearch::LiveSearch(PreparedSearch search, std::function<void(const SearchRecord&)> changed)
    : search_(std::move(search)),
      changed_(std::move(changed)),
      mind_(search_mind(search_)),
      now_(search_.start),
      first_goal_(search_.record.goal) {
  search_.record.choice = search_.setups[now_].choice;
  note_surface();
}

void LiveSearch::resume(const RunPlan& plan) {
  SearchChoice here{.cluster = cluster_text(plan),
                    .batch = plan.training ? plan.training->batch : 1};
  for (const RunMachines& machines : plan.machines) {
    if (workers_on(machines) > 1) {
      here.workers_per_vm = std::max(here.workers_per_vm.value_or(1), workers_on(machines));
    }
  }
  for (std::size_t i = 0; i < search_.setups.size(); ++i) {
    if (search_.setups[i].choice == here) now_ = i;
  }
}

// Events.

void LiveSearch::trained(const GangNews& news) {
  if (news.progress) search_.record.progress = *news.progress;
  if (!news.step) return;
  const GangStep& step = *news.step;
  if (step.progress) search_.record.progress = *step.progress;
  // A single worker splits a step in two to measure its gradients, which takes longer than other
  // steps.
  const bool cut = step.mean_square && step.squares.size() == 1;
  if (!cut) heard_.push_back(step.time);
  if (step.loss) {
    losses_.push_back(*step.loss);
    if (losses_.size() > kLosses) losses_.pop_front();
  }
  const double batch = search_.setups[now_].choice.batch;
  std::vector<WorkerGradient> gradients;
  for (const GradientSquare& one : step.squares) {
    const bool sound = std::isfinite(one.square) && one.samples > 0 && one.samples < batch;
    if (sound) gradients.push_back({.batch = one.samples, .square = one.square});
  }
  if (gradients.empty() || !step.mean_square || !std::isfinite(*step.mean_square)) return;
  noise_.add(gradient_moments(gradients, *step.mean_square, batch));
  ++noise_steps_;
}

/// Workers that a move keeps train until its new ones are ready: the pause begins after that.
void LiveSearch::trained_meanwhile(Seconds at) {
  if (moving_) moving_->last_step = std::max(moving_->last_step, at);
}

void LiveSearch::out_of_memory(const std::string& type, int samples) {
  for (std::size_t i = 0; i < search_.setups.size(); ++i) {
    LiveSetup& setup = search_.setups[i];
    if (!uses(setup, type)) continue;
    if (samples == 1) mind_->rule_out(i);
    limit_memory(setup, type, std::max(1, samples / 2));
  }
  const int most = std::max(1, samples / 2);
  search_.record.memory.push_back({.type = type, .samples = most});
  search_.record.warnings.push_back(fmt::format(
      "{} samples per micro-step are too many for the memory of {}; the limit is now {}.", samples,
      type, most));
  too_large_ = true;
}

/// A record of the noise since the last one, once there are enough steps.
void LiveSearch::note_noise() {
  if (noise_steps_ < kNoiseSteps) return;
  const NoiseScale noise = noise_.estimate(normal_quantile(0.9));
  if (!noise.scale || *noise.scale <= 0) {
    if (++unsettled_ == kUnsettledMax) {
      search_.record.warnings.push_back(
          "The gradient noise did not converge: the value of a larger batch is the prior of other "
          "jobs.");
    }
    return;
  }
  unsettled_ = 0;
  const double way = std::min(kWayMax, search_.record.progress / search_.record.goal);
  search_.record.noise.push_back({.way = way,
                                  .batch = search_.setups[now_].choice.batch,
                                  .scale = *noise.scale,
                                  .lower = std::max(0.0, noise.lower),
                                  .upper = noise.upper});
  mind_->heard({.way = way,
                .batch = static_cast<double>(search_.setups[now_].choice.batch),
                .scale = *noise.scale});
  noise_ = {};
  noise_steps_ = 0;
}

/// Times the present setup.
void LiveSearch::look(const Supervisor& supervisor) {
  const auto count = static_cast<std::ptrdiff_t>(
      std::min(steps_.size(), static_cast<std::size_t>(search_.record.probe_steps)));
  const Seconds step = median({steps_.end() - count, steps_.end()});
  const SearchOutlook before = mind_->outlooks(standing(supervisor))[now_];
  (void)mind_->timed(now_, step);
  if (timed_) return;  // The first timing is a probe; later steps are only watched.
  timed_ = true;
  search_.record.probes.push_back({.cluster = search_.setups[now_].choice.cluster,
                                   .workers_per_vm = search_.setups[now_].choice.workers_per_vm,
                                   .batch = search_.setups[now_].choice.batch,
                                   .at = supervisor.now(),
                                   .step = step,
                                   .predicted = step_range(before)});
}

// Requests.

std::optional<Replanning> LiveSearch::wish(const Supervisor& supervisor, const RunPlan& plan) {
  if (too_large_) {
    too_large_ = false;
    if (moving_) now_ = moving_->to;
    moving_.reset();
    if (mind_->ruled_out(now_)) return go(supervisor, plan, mind_->next(standing(supervisor)));
    return go_on(supervisor, plan, "fewer samples per micro-step, because of memory");
  }
  if (moving_) {
    const bool there = is_training(supervisor) && supervisor.attempt()->number > moving_->attempt;
    if (there) arrive(supervisor);
    if (!there && is_training(supervisor)) moving_->last_step = supervisor.attempt()->last_step;
    if (!there && moving_->counts && comes_too_late(supervisor)) {
      return go_on(supervisor, plan, "the machines of the move do not come before the end");
    }
    if (!there) return std::nullopt;
  }
  if (!is_training(supervisor)) return std::nullopt;
  const std::vector<Seconds> heard = std::exchange(heard_, {});
  const auto machines = static_cast<int>(supervisor.attempt()->vms.size());
  if (machines == search_.setups[now_].vms) {
    steps_.insert(steps_.end(), heard.begin(), heard.end());
  }
  if (ending_) return std::nullopt;
  if (target_reached()) return end_soon(supervisor, plan);
  if (ends_off_goal(supervisor)) {
    return go_on(supervisor, plan, "another number of steps is left to the goal");
  }
  if (goal_in_sight(supervisor)) {
    search_.record.goal *= kFarther;
    mind_->expect_steps(search_.record.goal);
    return go_on(supervisor, plan, "the target needs more steps than estimated");
  }
  const std::size_t enough = kWarmUp + static_cast<std::size_t>(search_.record.probe_steps);
  const bool first = !timed_ && steps_.size() >= enough;
  const bool again = timed_ && steps_.size() > kWarmUp &&
                     search_.record.progress / search_.record.goal >= look_at_;
  if (!first && !again) return std::nullopt;
  look(supervisor);
  return think(supervisor, plan);
}

bool LiveSearch::target_reached() const {
  if (!search_.record.loss_target || losses_.size() < kLosses) return false;
  const double sum = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  return sum / static_cast<double>(kLosses) <= *search_.record.loss_target;
}

/// Whether few steps are left, and the target loss is not reached.
bool LiveSearch::goal_in_sight(const Supervisor& supervisor) const {
  if (!search_.record.loss_target || search_.record.goal >= kFarthest * first_goal_) return false;
  return supervisor.terms().steps - supervisor.reached() <= kLastSteps;
}

std::string LiveSearch::shortfall() const {
  // Once the target was reached it counts, even if the loss rises again in the last steps.
  if (!search_.record.loss_target || ending_ || target_reached()) return "";
  const double sum = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  return fmt::format(
      "the loss of {:.4g} was not reached in the equivalent of {:.0f} steps at a batch of {}; it "
      "was {:.4g} over the last {} steps",
      *search_.record.loss_target, search_.record.progress, search_.record.reference_batch,
      sum / static_cast<double>(std::max<std::size_t>(1, losses_.size())), losses_.size());
}

/// Workers of the previous plan reach the number of steps of the next one, whose steps are worth
/// more.
bool LiveSearch::comes_too_late(const Supervisor& supervisor) const {
  return is_training(supervisor) && search_.record.progress < search_.record.goal &&
         supervisor.terms().steps - supervisor.reached() <= kMoveSteps;
}

/// Whether the steps that are left end beyond the goal or before it. They were counted when the
/// plan was made; steps that were done by the previous plan until workers of this one were ready,
/// or that are repeated, are worth more or less than assumed. The check is made once in each
/// attempt.
bool LiveSearch::ends_off_goal(const Supervisor& supervisor) {
  const int attempt = supervisor.attempt()->number;
  if (std::exchange(counted_in_, attempt) == attempt) return false;
  if (search_.record.progress >= search_.record.goal) return false;
  const RunBatch fresh =
      training_of(search_, *mind_, now_, search_.record.progress, supervisor.reached());
  const auto off = static_cast<double>(fresh.steps - supervisor.terms().steps);
  return std::abs(off) * fresh.gain > kOffGoal * search_.record.goal;
}

SearchStanding LiveSearch::standing(const Supervisor& supervisor) const {
  return {.now = now_,
          .way = std::min(kWayMax, search_.record.progress / search_.record.goal),
          .time = supervisor.now(),
          .cost = supervisor.cost(),
          .probe_time = probe_time_,
          .probe_cost = probe_cost_};
}

void LiveSearch::note_surface() {
  const std::vector<SearchOutlook> outlooks = mind_->outlooks({.now = now_});
  std::vector<SurfaceRow> rows;
  for (std::size_t i = 0; i < search_.setups.size(); ++i) {
    const LiveSetup& setup = search_.setups[i];
    const bool timed =
        std::any_of(search_.record.probes.begin(), search_.record.probes.end(),
                    [&](const SearchProbe& probe) { return choice_of(probe) == setup.choice; });
    rows.push_back({.cluster = setup.choice.cluster,
                    .type = setup.type,
                    .vms = setup.vms,
                    .workers_per_vm = setup.choice.workers_per_vm,
                    .batch = setup.choice.batch,
                    .step = step_range(outlooks[i]),
                    .steps = outlooks[i].steps,
                    .time = outlooks[i].time,
                    .cost = outlooks[i].cost,
                    .timed = timed,
                    .ruled_out = mind_->ruled_out(i)});
  }
  search_.record.surface = std::move(rows);
}

std::optional<Replanning> LiveSearch::think(const Supervisor& supervisor, const RunPlan& plan) {
  note_noise();
  look_at_ = (std::floor(standing(supervisor).way * kLooks) + 1) / kLooks;
  for (std::size_t i = 0; i < search_.setups.size(); ++i) {
    const MoveForecast move = move_forecast(search_.run.record, &plan, search_.setups[i].plan);
    mind_->expect_move(i, move.time.mean, move.cost.mean);
  }
  const SearchMove move = mind_->next(standing(supervisor));
  note_surface();
  changed_(search_.record);
  if (move.to != now_) return go(supervisor, plan, move);
  const RunBatch fresh =
      training_of(search_, *mind_, now_, search_.record.progress, supervisor.reached());
  const double gain = plan.training ? plan.training->gain : 1;
  if (std::abs(fresh.gain / gain - 1) <= kGainMoved) return std::nullopt;
  return go_on(supervisor, plan,
               fmt::format("a step of {} samples now equals {:.2f} steps of {}", fresh.batch,
                           fresh.gain, search_.record.reference_batch));
}

RunPlan LiveSearch::plan_of(std::size_t setup, const Supervisor& supervisor, int generation) const {
  RunPlan plan = search_.setups[setup].plan;
  plan.generation = generation;
  plan.training =
      training_of(search_, *mind_, setup, search_.record.progress, supervisor.reached());
  return plan;
}

/// The same machines with new terms.
std::optional<Replanning> LiveSearch::go_on(const Supervisor& supervisor, const RunPlan& plan,
                                            std::string reason) {
  moving_ = Moving{.to = now_,
                   .attempt = supervisor.attempt() ? supervisor.attempt()->number : 0,
                   .counts = false};
  return Replanning{.plan = plan_of(now_, supervisor, plan.generation),
                    .reason = std::move(reason)};
}

/// The target is reached: adds some steps, so that every worker receives the order in time.
std::optional<Replanning> LiveSearch::end_soon(const Supervisor& supervisor, const RunPlan& plan) {
  ending_ = true;
  const std::int64_t last =
      supervisor.reached() + 1 + save_ahead(steps_.empty() ? 1 * kSecond : median(steps_));
  if (last >= supervisor.terms().steps) return std::nullopt;
  auto thought = go_on(supervisor, plan,
                       fmt::format("the loss of {:.4g} is reached", *search_.record.loss_target));
  thought->plan->training->steps = last;
  return thought;
}

std::string LiveSearch::arithmetic(const SearchMove& move, bool probe) const {
  const auto amount = [&](double value) {
    if (search_.record.objective == "time") return fmt::format("{:.1f} s", value);
    if (search_.record.objective == "cost") return fmt::format("{:.6f} USD", value);
    return fmt::format("{:.3f} of the front", value);
  };
  return fmt::format(
      "{} {} at batch size {}: staying takes {} more, moving {}{}", probe ? "probe" : "move to",
      cluster_text(search_.setups[move.to].choice), search_.setups[move.to].choice.batch,
      amount(move.stay), amount(move.plain),
      probe ? fmt::format(", {} with the result of the probe", amount(move.rest)) : "");
}

Replanning LiveSearch::go(const Supervisor& supervisor, const RunPlan& plan,
                          const SearchMove& move) {
  const bool probe = !search_.record.surface[move.to].timed && move.plain >= move.stay;
  RunPlan next = plan_of(move.to, supervisor, plan.generation);
  const MoveForecast forecast = move_forecast(search_.run.record, &plan, next);
  if (probe) {
    probe_time_ += mind_->probe_time(move.to, standing(supervisor));
    probe_cost_ += mind_->probe_cost(move.to, standing(supervisor));
  }
  const std::string why = arithmetic(move, probe);
  search_.record.moves.push_back({.at = supervisor.now(),
                                  .from = search_.setups[now_].choice,
                                  .to = search_.setups[move.to].choice,
                                  .probe = probe,
                                  .why = why,
                                  .predicted = forecast.time,
                                  .predicted_cost = forecast.cost});
  const auto& attempt = supervisor.attempt();
  moving_ = Moving{.to = move.to,
                   .attempt = attempt ? attempt->number : 0,
                   .decided = supervisor.now(),
                   .last_step = attempt ? attempt->last_step : supervisor.now(),
                   .cost = supervisor.cost(),
                   .rate = rate_of(supervisor)};
  changed_(search_.record);
  return {.plan = std::move(next), .reason = why};
}

/// Workers train by the requested plan.
void LiveSearch::arrive(const Supervisor& supervisor) {
  const Moving moved = *std::exchange(moving_, std::nullopt);
  heard_.clear();
  steps_.clear();
  if (!moved.counts) return;
  const Seconds arrived = supervisor.attempt()->last_step;
  SearchedMove& told = search_.record.moves.back();
  told.measured = std::max(Seconds{}, arrived - moved.last_step);
  const Dollars trained = moved.rate * std::max(Seconds{}, moved.last_step - moved.decided);
  told.measured_cost = std::max(Dollars{}, supervisor.cost() - moved.cost - trained);
  if (search_.setups[moved.to].choice.batch != search_.setups[now_].choice.batch) {
    noise_ = {};
    noise_steps_ = 0;
  }
  now_ = moved.to;
  timed_ = false;
  search_.record.choice = search_.setups[now_].choice;
  changed_(search_.record);
}

}  // namespace stint
