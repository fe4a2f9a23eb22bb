#pragma once
namespace realtime_tools
{
template<class T>
class RealtimeBuffer
{
public:
  void initRT(const T & value) {value_ = value;}
  void writeFromNonRT(const T & value) {value_ = value;}
  T * readFromRT() {return &value_;}
private:
  T value_{};
};
}
