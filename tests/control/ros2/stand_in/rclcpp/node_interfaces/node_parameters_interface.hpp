#pragma once
#include <memory>
namespace rclcpp::node_interfaces
{
struct NodeParametersInterface
{
  using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
};
}
