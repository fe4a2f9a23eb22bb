#pragma once
#include <stdexcept>
namespace franka {
struct Exception : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace franka
