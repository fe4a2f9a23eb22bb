// Stand-ins for the parts of libfranka that the example uses, with its names and types, written for the test. `control`
// plays a robot that follows nothing: it stays where it is, and checks what is sent.
#pragma once
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include "duration.h"
#include "exception.h"
#include "lowpass_filter.h"
#include "rate_limiting.h"

namespace franka {

struct RobotState {
  std::array<double, 7> q{}, dq{}, tau_J{}, tau_J_d{};
};

struct Finishable {
  bool motion_finished = false;
};

struct Torques : Finishable {
  Torques(const std::array<double, 7>& torques) noexcept : tau_J(torques) {}
  std::array<double, 7> tau_J{};
};

inline Torques MotionFinished(Torques command) noexcept {
  command.motion_finished = true;
  return command;
}

class Robot {
 public:
  explicit Robot(const std::string& address) {
    if (address != "stand-in") throw Exception("no robot at " + address);
    state_.q = {{0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785}};
  }
  RobotState readOnce() { return state_; }
  void setCollisionBehavior(const std::array<double, 7>&, const std::array<double, 7>&, const std::array<double, 7>&,
                            const std::array<double, 7>&, const std::array<double, 6>&, const std::array<double, 6>&,
                            const std::array<double, 6>&, const std::array<double, 6>&) {}
  void control(std::function<Torques(const RobotState&, Duration)> control_callback, bool limit_rate = false,
               double cutoff_frequency = kDefaultCutoffFrequency) {
    double rate = 0.0, largest = 0.0, first = 0.0;
    for (long k = 0; k < 100000; ++k) {
      const Torques command = control_callback(state_, Duration(k ? 1 : 0));
      for (int i = 0; i < 7; ++i) {
        rate = std::fmax(rate, std::fabs(command.tau_J[i] - state_.tau_J_d[i]) / 1e-3);
        largest = std::fmax(largest, std::fabs(command.tau_J[i]));
        if (k == 0) first = std::fmax(first, std::fabs(command.tau_J[i]));
      }
      state_.tau_J_d = command.tau_J;
      if (command.motion_finished) {
        std::printf("%ld %.17g %.17g %.17g %d %g\n", k, rate, largest, first, limit_rate, cutoff_frequency);
        return;
      }
    }
    throw Exception("the motion never ended");
  }

 private:
  RobotState state_;
};

}  // namespace franka
