// Real-time scheduling of the calling thread, asked for, read back, and with the reason where it is
// not had.
#pragma once

#include <string>

namespace s2r::arm {

struct RealtimeGrant {
  bool granted = false;  // policy and locked memory both
  bool fifo = false;     // the calling thread really runs under SCHED_FIFO
  int priority = 0;      // as read back
  bool memory_locked = false;
  std::string policy;  // "fifo" or "other", as read back
  std::string reason;  // why not, and the mend; empty where granted
};

// Asks for SCHED_FIFO at `priority` for the calling thread, and locks its stack, the code and data
// of our libraries and the heap in memory, where no limit applies. The rest of the process stays as
// it is: the memory of the JavaScript engine cannot be locked.
[[nodiscard]] RealtimeGrant requestRealtime(int priority);

// SCHED_FIFO alone, for helpers beside the loop; false where refused.
bool requestFifo(int priority) noexcept;

// Touches `bytes` of the calling thread's stack, so that the loop never faults a page of it in.
void prefaultStack() noexcept;

}  // namespace s2r::arm
