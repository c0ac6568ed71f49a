#include "native/arm/core/stop_latch.h"

namespace s2r::arm {

StopLatch::StopLatch(const CoreConfig& config)
    : lock_out_s_(config.lock_out_s),
      window_s_(config.recovery_window_s),
      limit_(std::min(static_cast<size_t>(config.recovery_limit), kMostRecoveries)),
      epoch_(config.initial_stop_epoch) {
  recovered_at_s_.fill(-1e300);
}

void StopLatch::stop(StopSource source, const FixedText<96>& reason, uint64_t times) noexcept {
  latched_ = true;
  epoch_ += times;
  source_ = source;
  reason_ = reason;
}

bool StopLatch::fault(const FaultDetail& detail) noexcept {
  const FaultInfo& info = faultInfo(detail.code);
  if (detail.code == FaultCode::kProtectiveStop && !protective_) {
    protective_ = true;
    protective_since_s_ = detail.time_s;
    token_ = 0;
  }
  if (hasFault() && info.severity <= faultInfo(fault_.code).severity) {
    // The same again after a person looked: they must look again.
    token_ = info.severity == faultInfo(fault_.code).severity ? 0 : token_;
    return false;
  }
  fault_ = detail;
  token_ = 0;
  stop(StopSource::kFault, FixedText<96>(info.name));
  return true;
}

RecoverAnswer StopLatch::recover(uint64_t token, double now_s) noexcept {
  RecoverAnswer answer;
  answer.present = true;
  answer.stop_epoch = epoch_;
  answer.recoveries = recoveries_;
  if (!hasFault()) {
    answer.refusal = Refusal::kNothingToRecover;
    return answer;
  }
  if (token == 0) {
    answer.refusal = Refusal::kBadArgument;
    return answer;
  }
  if (protective_) {
    const double waited = now_s - protective_since_s_;
    if (waited < lock_out_s_) {
      answer.refusal = Refusal::kLockOut;
      answer.wait_s = lock_out_s_ - waited;
      return answer;
    }
    size_t recent = 0;
    double* oldest = &recovered_at_s_[0];
    for (double& at : recovered_at_s_) {
      recent += now_s - at < window_s_ ? 1 : 0;
      oldest = at < *oldest ? &at : oldest;
    }
    if (recent >= limit_) {
      answer.refusal = Refusal::kRecoveryLimit;
      return answer;
    }
    *oldest = now_s;
    answer.recoveries = ++recoveries_;
    protective_ = false;  // counted once; another recover for the same fault only draws a new token
  }
  token_ = token;
  return answer;
}

ResumeAnswer StopLatch::resume(uint64_t epoch,
                               uint64_t token,
                               bool at_rest,
                               FaultCode cause) noexcept {
  ResumeAnswer answer;
  answer.present = true;
  answer.stop_epoch = epoch_;
  if (epoch != epoch_) {
    answer.refusal = Refusal::kStopEpoch;
    return answer;
  }
  if (!latched_) {
    return answer;
  }
  if (hasFault()) {
    if (token == 0 || token != token_) {
      answer.refusal = Refusal::kToken;
      answer.cause = fault_.code;
      return answer;
    }
    if (cause != FaultCode::kNone) {
      answer.refusal = Refusal::kCauseRemains;
      answer.cause = cause;
      return answer;
    }
  } else if (cause != FaultCode::kNone) {
    answer.refusal = Refusal::kNotReady;
    answer.cause = cause;
    return answer;
  }
  if (!at_rest) {
    answer.refusal = Refusal::kBusy;
    return answer;
  }
  latched_ = false;
  fault_ = {};
  token_ = 0;
  reason_ = {};
  return answer;
}

}  // namespace s2r::arm
