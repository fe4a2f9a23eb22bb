// Reads motions from stdin, writes what the generated solver and controller compute.
#include <cmath>
#include <cstdio>
#include <iostream>

#include "PACKAGE/dynamics_solver.hpp"
#include "PACKAGE/law_controller.hpp"

using Eigen::VectorXd;
using Point = trajectory_msgs::msg::JointTrajectoryPoint;

static VectorXd read(int n)
{
  VectorXd x(n);
  for (int i = 0; i < n; ++i) {std::cin >> x[i];}
  return x;
}

static void write(const VectorXd & x)
{
  for (double value : x) {std::printf("%.17g ", value);}
  std::puts("");
}

int main(int, char ** arguments)
{
  const int n = std::atoi(arguments[1]), samples = std::atoi(arguments[2]);
  const unsigned rate = std::atoi(arguments[3]);
  PACKAGE::DynamicsSolver solver;
  solver.initialize();
  PACKAGE::LawController controller;
  std::vector<double> q(n), qd(n), tau(n, NAN);
  for (int i = 0; i < n; ++i) {controller.state_interfaces_.push_back({&q[i]});}
  for (int i = 0; i < n; ++i) {controller.state_interfaces_.push_back({&qd[i]}); controller.command_interfaces_.push_back({&tau[i]});}
  controller.rate_ = rate;
  controller.on_init();
  if (controller.on_configure({}) != controller_interface::CallbackReturn::SUCCESS) {return 3;}
  for (const auto & name : controller.state_interface_configuration().names) {std::printf("%s ", name.c_str());}
  for (const auto & name : controller.command_interface_configuration().names) {std::printf("%s ", name.c_str());}
  std::puts("");
  for (int k = 0; k < samples; ++k) {
    const VectorXd position = read(n), velocity = read(n), acceleration = read(n);
    const Eigen::MatrixXd inertia = solver.getInertiaMatrix(position);
    write(Eigen::Map<const VectorXd>(inertia.data(), n * n));
    write(solver.getCoriolisVector(position, velocity));
    write(solver.getGravityVector(position));
    write(solver.getFrictionVector(velocity));
    write(solver.getTorques(position, velocity, acceleration));
    VectorXd::Map(q.data(), n) = position;
    VectorXd::Map(qd.data(), n) = velocity;
    if (k == 0) {controller.on_activate({});}
    if (k == samples / 2) {
      auto subscription = std::static_pointer_cast<rclcpp::Subscription<Point>>(controller.get_node()->subscription);
      subscription->receive({std::vector<double>(n, 0.1), {}, {}, {}});
      subscription->receive({std::vector<double>(n + 1, 5.0), {}, {}, {}});  // rejected
    }
    if (controller.update({}, {}) != controller_interface::return_type::OK) {return 4;}
    write(VectorXd::Map(tau.data(), n));
  }
  controller.on_deactivate({});
  write(VectorXd::Map(tau.data(), n));
}
