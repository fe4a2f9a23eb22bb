#pragma once
#include <type_traits>
#define PLUGINLIB_EXPORT_CLASS(Class, Base) \
  static_assert(std::is_base_of<Base, Class>::value && std::is_default_constructible<Class>::value, "not a plugin");
