#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
namespace franka {
constexpr double kMost = 1000 - 1e-3;
constexpr std::array<double, 7> kMaxTorqueRate{{kMost, kMost, kMost, kMost, kMost, kMost, kMost}};

inline std::array<double, 7> limitRate(const std::array<double, 7>& most, const std::array<double, 7>& wanted,
                                       const std::array<double, 7>& last) {
  std::array<double, 7> result{};
  for (std::size_t i = 0; i < 7; ++i) {
    result[i] = last[i] + std::clamp(wanted[i] - last[i], -most[i] * 1e-3, most[i] * 1e-3);
  }
  return result;
}
}  // namespace franka
