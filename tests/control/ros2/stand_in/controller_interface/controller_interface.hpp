#pragma once
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr))
namespace rclcpp
{
struct Time {};
struct Duration {};
struct SystemDefaultsQoS {};
template<class Message>
struct Subscription
{
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(const Message &)> receive;
};
}
namespace rclcpp_lifecycle
{
struct State {};
struct Parameter
{
  std::vector<std::string> value;
  std::vector<std::string> as_string_array() const {return value;}
};
struct LifecycleNode
{
  std::map<std::string, std::vector<std::string>> parameters;
  std::shared_ptr<void> subscription;
  Parameter get_parameter(const std::string & name) const {return {parameters.at(name)};}
  int get_logger() const {return 0;}
  template<class Message, class Function>
  std::shared_ptr<rclcpp::Subscription<Message>> create_subscription(const std::string &, rclcpp::SystemDefaultsQoS, Function receive)
  {
    auto made = std::make_shared<rclcpp::Subscription<Message>>();
    made->receive = receive;
    subscription = made;
    return made;
  }
};
}
namespace hardware_interface
{
struct LoanedStateInterface
{
  const double * value;
  std::optional<double> get_optional() const {return value ? std::optional<double>(*value) : std::nullopt;}
};
struct LoanedCommandInterface
{
  double * value;
  [[nodiscard]] bool set_value(double x) {*value = x; return true;}
};
}
namespace controller_interface
{
enum class CallbackReturn {SUCCESS, FAILURE, ERROR};
enum class return_type {OK, ERROR};
enum class interface_configuration_type {ALL, INDIVIDUAL, NONE};
struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};
class ControllerInterface
{
public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() const {return node_;}
  unsigned get_update_rate() const {return rate_;}
  template<class T>
  void auto_declare(const std::string & name, const T & value) {node_->parameters.emplace(name, value);}
  unsigned rate_ = 0;
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;
private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};
}
