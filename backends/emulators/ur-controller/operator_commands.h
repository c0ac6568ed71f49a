// Lines of JSON on standard input: fault switches and questions of tests and benches.
//
//   {"fault":"freeze","seconds":2}   nothing is read or answered, the arm holds
//   {"fault":"kill"}                 SIGKILL of the process
//   {"fault":"rst"}                  every connection is reset
//   {"fault":"delay","ms":50,"seconds":1}       both directions of the data exchange
//   {"fault":"drop","share":0.2,"seconds":1}    data packages of both directions
//   {"fault":"half_frames","share":0.2,"seconds":1}  data packages that end in their middle
//   {"fault":"unplug","seconds":2}   no byte passes on any interface; the controller itself goes on
//   {"fault":"protective_stop"}  {"fault":"emergency_stop"}  {"fault":"local"}
//   {"fault":"noise","force_n":2,"torque_nm":0.2}
//   {"clear":true}                   ends all of these that can end
//   {"set":{"speed_slider":0.5}}     the pendant's slider
//   {"world":{"plane_z_m":0.2,"stiffness_n_m":5000}}  {"world":{"wrench":[fx,fy,fz,tx,ty,tz]}}
//   {"stats":true}                   lateness and duration of the cycles
//   {"dump":"setpoints","path":"x.csv","after_s":t}   {"clear_setpoints":true}
// Each is answered by one line on standard output: {"done":...} or {"error":...}.
#pragma once

#include <string>

#include "backends/emulators/ur-controller/process.h"

namespace s2r::ur {

[[nodiscard]] std::string answerOperator(const std::string& line, Process& process);

}  // namespace s2r::ur
