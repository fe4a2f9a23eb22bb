#pragma once
#include <string>
#include <Eigen/Core>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>
namespace inverse_dynamics_solver
{
class InverseDynamicsSolver
{
public:
  virtual ~InverseDynamicsSolver() = default;
  virtual void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr, const std::string &, const std::string &) = 0;
  virtual Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getCoriolisVector(const Eigen::VectorXd &, const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getGravityVector(const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getFrictionVector(const Eigen::VectorXd &) const = 0;
  virtual Eigen::VectorXd getTorques(const Eigen::VectorXd &, const Eigen::VectorXd &, const Eigen::VectorXd &) const = 0;
};
}
