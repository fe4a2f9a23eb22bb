// A law exported by armdyn on a Franka arm, through libfranka's torque interface. 86_libfranka.py writes franka_law.h
// and franka_law.c. Build: g++ -std=c++17 -O2 86_libfranka.cpp -x c franka_law.c franka_law_update.c -lfranka
//
// libfranka adds gravity, and makes up for friction, itself: the law was exported without both. Torques may change by
// no more than 1 N m a millisecond (kMaxTorqueRate), else the robot stops: the rate is limited here, in sight.
// Compiled against stand-ins for libfranka's headers; never run on a robot. Keep the stop button in your hand.
#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>

#include <franka/duration.h>
#include <franka/exception.h>
#include <franka/lowpass_filter.h>
#include <franka/rate_limiting.h>
#include <franka/robot.h>

extern "C" {
#include "franka_law.h"
}

namespace {

using Joints = std::array<double, 7>;

constexpr double kDuration = 8.0;  // [s]
constexpr double kPi = 3.14159265358979323846;

struct Reference {
  Joints q, qd, qdd;
};

// All joints sway by 0.1 rad and come back, from rest to rest: 0.05 (1 - cos) of a phase that starts and ends smoothly.
Reference reference(double time, const Joints& start) {
  const double s = std::fmin(time / kDuration, 1.0);
  const double phase = 2.0 * kPi * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
  const double rate = 2.0 * kPi * 30.0 * s * s * (1.0 - s) * (1.0 - s) / kDuration;
  const double change = 2.0 * kPi * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / (kDuration * kDuration);
  Reference result{start, {}, {}};
  for (std::size_t i = 0; i < start.size(); ++i) {
    result.q[i] += 0.05 * (1.0 - std::cos(phase));
    result.qd[i] = 0.05 * std::sin(phase) * rate;
    result.qdd[i] = 0.05 * (std::cos(phase) * rate * rate + std::sin(phase) * change);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " ROBOT-ADDRESS\n";
    return 2;
  }
  try {
    franka::Robot robot(argv[1]);
    const Joints limit{{20.0, 20.0, 18.0, 18.0, 16.0, 14.0, 12.0}};
    const std::array<double, 6> force{{20.0, 20.0, 20.0, 25.0, 25.0, 25.0}};
    robot.setCollisionBehavior(limit, limit, limit, limit, force, force, force, force);
    const Joints start = robot.readOnce().q;
    franka_law_state law;
    franka_law_init(&law);
    double time = 0.0;
    robot.control(
        [&](const franka::RobotState& state, franka::Duration period) -> franka::Torques {
          time += period.toSec();  // 0 in the first call, 1 ms after it unless packets are lost
          const Reference ref = reference(time, start);
          Joints tau{};
          franka_law_step(&law, state.q.data(), state.dq.data(), ref.q.data(), ref.qd.data(), ref.qdd.data(),
                          tau.data());
          const franka::Torques command(franka::limitRate(franka::kMaxTorqueRate, tau, state.tau_J_d));
          return time < kDuration ? command : franka::MotionFinished(command);
        },
        false, franka::kMaxCutoffFrequency);  // the rate is limited above, and nothing is filtered
  } catch (const franka::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
