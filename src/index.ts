/**
 * The library: contract, sessions, backends, programs, Proposers, evaluation.
 *
 * @module
 */
export { ReplayBackend, type ReplaySpawnOptions } from "../backends/replay/launch.js";
export { SimBackend } from "../backends/sim/launch.js";
export type { SimExit, SimSpawnOptions } from "../backends/sim/sim-backend.js";
export {
  DEFAULT_BUDGETS,
  type EpisodeBudgets,
  type EpisodeOptions,
  type EpisodeOutcome,
  type EpisodeReport,
  playEpisode,
} from "./agents/episode.js";
export { LibraryProposer } from "./agents/library-proposer.js";
export { type LoadedSkills, loadSkills, type SkillSettings } from "./agents/load-skills.js";
export { ProgramHost } from "./agents/program-host.js";
export type {
  CallRecord,
  Claim,
  Decision,
  ImageRecord,
  Proposer,
  ProposerContext,
  StageEnd,
  StageRecord,
} from "./agents/proposer.js";
export { RecordedProposer } from "./agents/recorded-proposer.js";
export { ScriptProposer } from "./agents/script-proposer.js";
export * from "./config/index.js";
export * from "./contract/index.js";
export { packageFile } from "./contract/package-root.js";
export {
  DEFAULT_MOTION_SETTINGS,
  DEFAULT_PERCEPTION_SETTINGS,
  type MotionSettings,
  type PerceptionSettings,
  type ZoneSettings,
} from "./contract/settings.js";
export { type EpisodeResult, isFalseClaim } from "./evaluation/episode-result.js";
export { type EpisodeSpec, EpisodeWorker, type EpisodeWorkerOptions } from "./evaluation/episode-worker.js";
export { type EvalSummary, summarize } from "./evaluation/eval-summary.js";
export { campaignName, type EvaluateOptions, evaluateSeeds } from "./evaluation/evaluate.js";
export { type RecordedEpisode, readEpisode } from "./evaluation/recorded-episode.js";
export { type EpisodeReplay, type ReplayEpisodeOptions, replayEpisode } from "./evaluation/replay-episode.js";
export {
  type Judgement,
  openSimulatedSession,
  type SimulatedSession,
  type SimulatedSessionOptions,
} from "./evaluation/simulated-session.js";
export { type Library, type MemoryEntry, parseEntry, readLibrary, readMemories } from "./memory/index.js";
export {
  type CheckResult,
  callbackHost,
  DEFAULT_QUOTAS,
  formatDiagnostics,
  type GuestHost,
  KILL_CODES,
  type KillCode,
  type PrintedLine,
  ProgramChecker,
  type ProgramCheckerOptions,
  type ProgramDiagnostic,
  type ProgramError,
  type Quotas,
  type RunOptions,
  type RunResult,
  type RunUsage,
  Sandbox,
  type SandboxOptions,
} from "./program/index.js";
export type {
  CurveKeys,
  Device,
  DeviceAddresses,
  DeviceConnectOptions,
  DeviceExchange,
  DeviceFrame,
} from "./runtime/device/device.js";
export { DeviceClient } from "./runtime/device/device-client.js";
export { deviceCodeOf } from "./runtime/device/refusal.js";
export type { CallOutcome } from "./runtime/dispatch.js";
export {
  OperationFailure,
  type OperationTable,
  type SkillContext,
  type SkillFunction,
  type SkillResult,
} from "./runtime/operation.js";
export { loadOperations } from "./runtime/required-skills.js";
export { Session, type SessionOptions, type Turn, type TurnSettlement } from "./runtime/session.js";
export { McapTrace, type McapTraceOptions, TRACE_FILE } from "./runtime/trace/mcap-trace.js";
export { type ReadTraceOptions, readTrace, type TraceMessage } from "./runtime/trace/read-trace.js";
export { NO_TRACE, type TraceSink } from "./runtime/trace-sink.js";
