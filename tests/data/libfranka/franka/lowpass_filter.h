#pragma once
namespace franka {
constexpr double kMaxCutoffFrequency = 1000.0;
constexpr double kDefaultCutoffFrequency = 100.0;
}  // namespace franka
