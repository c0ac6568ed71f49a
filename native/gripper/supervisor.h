// The gripper's state machine: no clock, no thread, no line of its own. Telemetry, time and
// requests go in; bytes for the line and events come out.
//
//   closed -> connecting -> limiting -> enabling -> ready <-> moving
//                 ^            |                      |         |
//                 |            +--- powered already --^         |
//                 +--- recover, or a move after a lost link --- fault (latched)
//
// Power is never given again by itself: a gripper that switched off or reports a fault stays in
// fault until recover() is asked for. A lost link (unplugged, silent, stale) is tried again by the
// next move, which starts from the state the device then reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "native/gripper/json_stream.h"
#include "native/gripper/types.h"

namespace s2r::gripper {

class Supervisor {
 public:
  explicit Supervisor(const Settings& settings) : settings_(settings), dialect_(settings.dialect) {}

  // The line. onLinkLost also reports a line that could not be opened.
  void onOpened(double now_s);
  void onLinkLost(double now_s, Failure failure);
  void onReport(double now_s, const Report& report);
  void onBytesWithoutReport() { heard_bytes_ = true; }
  // To be called at least every 20 ms: deadlines are judged here. Drain the line first.
  void tick(double now_s);

  // Requests. Each gives the reason where it is refused. A move's end is an event.
  struct MoveReply {
    uint64_t motion = 0;
    std::optional<Failure> refusal;
  };
  [[nodiscard]] MoveReply move(double now_s, const Move& move);
  // Ends a motion. Fingers in free air stop where they are, which telemetry must show; fingers that
  // press keep their grip.
  void hold(double now_s);
  // Out of a latched fault, on a person's request.
  [[nodiscard]] std::optional<Failure> recover(double now_s);
  // Takes the power away; done once released() is true.
  void release(double now_s);
  [[nodiscard]] bool released() const;

  // True when the line is to be closed and opened again; reading it clears it.
  [[nodiscard]] bool takeReopen();
  [[nodiscard]] Bytes takeWrites();
  [[nodiscard]] std::vector<Event> takeEvents();
  [[nodiscard]] State state() const;
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  struct Motion {
    uint64_t id = 0;
    double target_angle_rad = 0.0;
    double target_opening_m = 0.0;
    double start_opening_m = 0.0;
    double start_angle_rad = 0.0;
    double start_s = 0.0;
    double sent_s = 0.0;
    double deadline_s = 0.0;
    double speed_m_s = 0.0;
    double limit_a = 0.0;
    int direction = 0;  // -1 closes, 1 opens
    int attempt = 0;
    Command command = Command::kPosition;
    bool held_at_start = false;
    bool reacted = false;
  };
  struct Pending {
    uint64_t id = 0;
    Move move;
  };
  // A hold whose rest telemetry has not shown yet.
  struct Holding {
    double start_s = 0.0;
    double sent_s = 0.0;
    double angle_rad = 0.0;
    int attempt = 0;
  };

  // supervisor.cpp
  void advance(double now_s);
  void connect(double now_s);
  void becomeReady(double now_s);
  [[nodiscard]] bool acceptMotor(double now_s, const Motor& motor);
  [[nodiscard]] std::optional<Failure> health(double now_s) const;
  void fault(double now_s, Failure failure);
  void enter(Phase phase, double now_s);
  void requestInfo(double now_s);
  [[nodiscard]] bool enabled() const { return (status_.bits & kStatusEnabled) != 0; }
  [[nodiscard]] double opening() const;
  void sendLimit(double now_s, double limit_a);
  void sendPosition(double angle_rad);
  void emit(Event event) { events_.push_back(std::move(event)); }

  // supervisor_motion.cpp
  [[nodiscard]] std::optional<Failure> checkMove(const Move& move) const;
  void startMotion(double now_s, const Pending& pending);
  void sendMotion(double now_s);
  void stepMotion(double now_s);
  void confirmReaction(double now_s);
  void endMotion(double now_s, EndReason reason, Failure failure = {});
  void sendHold(double now_s);
  void watchHold(double now_s);
  void watchGrip(double now_s);
  void trackRest(double now_s);
  [[nodiscard]] bool pressing(int direction, double limit_a) const;

  const Settings settings_;
  Dialect dialect_;
  Phase phase_ = Phase::kClosed;
  double phase_since_s_ = 0.0;
  bool heard_bytes_ = false;
  bool link_fault_ = false;
  bool link_open_ = false;
  bool reopen_ = false;
  bool resent_ = false;
  Failure fault_;

  Motor motor_;
  MotorStatus status_;
  double motor_time_s_ = -1.0;
  double status_time_s_ = -1.0;
  int motor_count_ = 0;   // since the phase began
  int status_count_ = 0;  // since the phase began
  int bad_status_count_ = 0;
  int off_count_ = 0;
  int bad_zero_count_ = 0;
  std::optional<Motor> candidate_;
  double candidate_time_s_ = 0.0;
  double zero_jump_rad_ = 0.0;  // 0: none
  std::string version_;
  int info_sent_ = 0;
  double info_sent_s_ = 0.0;

  double limit_a_ = 0.0;
  double limit_since_s_ = 0.0;
  double over_limit_since_s_ = -1.0;
  bool limit_observed_ = false;

  std::optional<Motion> motion_;
  std::optional<Pending> pending_;
  std::optional<Holding> holding_;
  uint64_t next_motion_ = 1;
  double target_opening_m_ = -1.0;
  double rest_angle_rad_ = 0.0;
  double rest_since_s_ = 0.0;
  double settled_since_s_ = -1.0;
  double pressing_since_s_ = -1.0;

  bool stalled_ = false;
  bool slipped_ = false;
  bool gripping_ = false;
  double grip_opening_m_ = 0.0;
  int slip_count_ = 0;

  Bytes writes_;
  std::vector<Event> events_;
};

}  // namespace s2r::gripper
