#pragma once
#include <cstdint>
namespace franka {
class Duration {
 public:
  explicit Duration(uint64_t milliseconds) noexcept : milliseconds_(milliseconds) {}
  double toSec() const noexcept { return static_cast<double>(milliseconds_) / 1000.0; }

 private:
  uint64_t milliseconds_;
};
}  // namespace franka
