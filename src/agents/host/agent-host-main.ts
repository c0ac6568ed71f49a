/**
 * Entry of the agent host's process: plays the episodes that its parent asks for over IPC, one at a time. Its working folder is
 * the folder of runs; it opens no socket but those of a backend's public plane.
 *
 * @module
 */
import { join } from "node:path";
import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import type { MotionSettings, PerceptionSettings } from "../../contract/settings.js";
import { ProgramChecker, Sandbox } from "../../program/index.js";
import { RecordedPast } from "../../runtime/recording/recorded-past.js";
import { STAGE_END } from "../../runtime/recording/recording.js";
import { type McapTrace, TRACE_FILE } from "../../runtime/trace/mcap-trace.js";
import { createProposer } from "../create-proposer.js";
import { DEFAULT_BUDGETS, playEpisode, wallLimit } from "../episode.js";
import { Exchanges } from "../exchanges/exchanges.js";
import { Accountant, type EpisodeAccounts } from "../llm/model-account.js";
import { type LoadedSkills, loadSkills } from "../load-skills.js";
import { openRecordedSession } from "../open-session.js";
import { ServiceDesk } from "../services/service-desk.js";
import { type ServiceSettings, vlmRoles, withoutSecrets } from "../services/settings.js";
import { skillServices } from "../services/vision-services.js";
import { Stopwatch } from "../stopwatch.js";
import { ToolDesk } from "../tools/tool-desk.js";
import { type EpisodeRequest, type HostMessage, hostRequestSchema } from "./messages.js";

/**
 * Lease of a session that is taken up: what it did before is worked out again in one go. On a simulated clock, the only one that
 * can be taken up, nothing moves meanwhile.
 */
const RESUMED_LEASE_MS = 15_000;

/** The checker and the sandbox are kept warm from episode to episode, as long as the skills stay the same. */
class AgentHost {
  #sandbox: Sandbox | null = null;
  #checker: { key: string; skills: LoadedSkills; checker: ProgramChecker } | null = null;
  #stop: AbortController | null = null;
  /** Lets the episode go on whose stage is being kept. */
  #kept: (() => void) | null = null;
  readonly #desk = new ServiceDesk();
  readonly #tools = new ToolDesk();
  /** Of the newest episode. */
  accounts: EpisodeAccounts = { model: null, services: null };

  async play(request: EpisodeRequest, say: (message: HostMessage) => void): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    const { proposer: decides, replay, policy } = request;
    const vision = visionOf(request.settings);
    const stopwatch = new Stopwatch();
    const visionAccountant = vision ? new Accountant(vision, "the vision model", null, stopwatch) : null;
    const modelAccountant =
      decides.kind === "llm" ? new Accountant(decides.model, "the model", visionAccountant, stopwatch) : null;
    this.accounts = { model: modelAccountant?.account ?? null, services: visionAccountant?.account ?? null };
    const { skills, checker } = await this.#check(request);
    this.#sandbox ??= await Sandbox.create();
    try {
      const { resume } = request;
      const past = resume ? await RecordedPast.open(join(resume.folder, TRACE_FILE), resume.stage) : undefined;
      const { session, trace } = await openRecordedSession({
        addresses: request.addresses,
        curve: request.curve,
        folder: request.folder,
        client: "skill2real/agent-host",
        leaseMs: resume ? Math.max(request.leaseMs, RESUMED_LEASE_MS) : request.leaseMs,
        operations: skills.operations,
        motion: request.settings.motion as Partial<MotionSettings>,
        perception: request.settings.perception as Partial<PerceptionSettings>,
        refKey: request.refKey,
        past,
        metadata: { episode: request.episode, instruction: request.instruction },
      });
      try {
        trace.event("session", {
          ref_key: session.refKey,
          random_seed: request.randomSeed,
          skills: skills.names,
          settings: recorded(request.settings),
        });
        const models = {
          ...(decides.kind === "llm" ? { proposer: decides.model.model } : {}),
          ...(vision ? { services: vision.model } : {}),
        };
        const tools = request.settings.skills.tools ? { tools: request.settings.skills.tools } : {};
        const exchanges =
          modelAccountant || visionAccountant || request.settings.skills.tools
            ? new Exchanges({
                record: { folder: request.folder, policy, models, episode_key: session.refKey, ...tools },
                ...(replay ? { replay: { ...replay, policy } } : {}),
              })
            : null;
        if (vision && visionAccountant && exchanges)
          this.#desk.begin({
            settings: vision,
            exchanges,
            accountant: visionAccountant,
            alsoSpent: () => modelAccountant?.spent() ?? null,
            limits: () => [
              ...(modelAccountant?.limits() ?? []),
              wallLimit(request.settings.budgets.max_wall_s ?? DEFAULT_BUDGETS.max_wall_s, stopwatch),
            ],
            signal: stop.signal,
          });
        this.#tools.begin({ servers: request.settings.tool_servers ?? [], exchanges });
        const proposer = createProposer(request.proposer, {
          skills,
          capabilities: session.device.capabilities,
          folder: request.folder,
          exchanges,
          accountant: modelAccountant,
          check: (program, fileName) => checker.check(program, fileName),
          signal: stop.signal,
          onEvent: (kind, details) => trace.event(kind, details),
        });
        const report = await playEpisode({
          session,
          checker,
          sandbox: this.#sandbox,
          proposer,
          instruction: request.instruction,
          names: skills.functionNames,
          statusNames: skills.statusNames,
          randomSeed: request.randomSeed,
          budgets: request.settings.budgets,
          quotas: request.settings.quotas,
          ...(request.settings.path_length_m === undefined ? {} : { pathLength_m: request.settings.path_length_m }),
          trace,
          onStage: (stage) => say({ type: "stage", stage }),
          onCall: (call) => say({ type: "call", call }),
          accounts: this.accounts,
          spent: () => this.#desk.refused,
          stopwatch,
          onStageEnd: async (stage, whole) => {
            if (stop.signal.aborted || (resume && stage < resume.stage)) return;
            if (resume?.stage === stage) {
              if (!past?.over)
                throw new Skill2RealError("diverged", `stage ${stage} asked for less than it did before`);
              stopwatch.set(resume.wall_s);
              exchanges?.mayPart();
            }
            if (request.keep && whole) await this.#keep(stage, stopwatch.elapsed_s, trace, say, stop.signal);
          },
          signal: stop.signal,
        });
        trace.event("episode_end", { outcome: report.outcome, claim: report.claim, evidence: report.evidence });
        await session.close();
        await trace.close();
        if (trace.failed)
          throw new Skill2RealError("storage_failed", `the trace is not complete: ${trace.failed.message}`);
        say({ type: "played", report, refKey: session.refKey });
      } finally {
        await session.close();
        await trace.close();
      }
    } finally {
      this.#stop = null;
      this.#desk.end();
      // No server remembers an episode in the next one.
      await this.#tools.end();
    }
  }

  stop(): void {
    this.#stop?.abort();
  }

  kept(): void {
    this.#kept?.();
  }

  /** Brings the trace to the disk, and waits until the parent has kept the stage's end or stops the episode. */
  async #keep(
    stage: number,
    wall_s: number,
    trace: McapTrace,
    say: (message: HostMessage) => void,
    signal: AbortSignal,
  ): Promise<void> {
    await trace.mark(STAGE_END, { stage });
    if (trace.failed) throw new Skill2RealError("storage_failed", `the trace is not complete: ${trace.failed.message}`);
    await new Promise<void>((resolve) => {
      this.#kept = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
      say({ type: "stage_end", stage, wall_s });
    });
    this.#kept = null;
  }

  async close(): Promise<void> {
    this.stop();
    await this.#sandbox?.close();
    await this.#checker?.checker.close();
  }

  async #check(request: EpisodeRequest): Promise<{ skills: LoadedSkills; checker: ProgramChecker }> {
    const { skills: asked, services } = request.settings;
    const key = JSON.stringify([asked, services]);
    if (this.#checker?.key === key) return this.#checker;
    await this.#checker?.checker.close();
    const skills = await loadSkills(
      asked,
      services && skillServices(services, (role, messages) => this.#desk.ask(role, messages)),
      this.#tools,
    );
    const checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
    this.#checker = { key, skills, checker };
    return this.#checker;
  }
}

/** The vision model, where it answers for a service that is at hand. */
function visionOf({ services, skills }: EpisodeRequest["settings"]): ServiceSettings["model"] {
  if (!services) return undefined;
  const at_hand = vlmRoles(services).some((role) => skills.services?.includes(role) ?? true);
  return at_hand ? services.model : undefined;
}

/** What is kept of the settings. */
function recorded({ services, tool_servers: _, ...settings }: EpisodeRequest["settings"]): Record<string, unknown> {
  return services ? { ...settings, services: withoutSecrets(services) } : settings;
}

/** What this process may take to end in good order once nobody listens to it. */
const END_TIMEOUT_MS = 3_000;

const say = (message: HostMessage): void => {
  if (process.connected) process.send?.(message);
};
const host = new AgentHost();
let working: Promise<void> = Promise.resolve();

function fail(error: unknown): void {
  const code = isSkill2RealError(error) ? error.code : "internal";
  const message = error instanceof Error ? error.message : String(error);
  say({ type: "failed", code, message, accounts: host.accounts });
}

async function end(): Promise<void> {
  host.stop();
  await working;
  await host.close();
  process.exit(0);
}

process.on("message", (raw) => {
  const parsed = hostRequestSchema.safeParse(raw);
  if (!parsed.success)
    return fail(
      new Skill2RealError(
        "protocol_mismatch",
        `the agent host does not understand a message of its parent: ${parsed.error.issues[0]?.path.join(".")}: ${parsed.error.issues[0]?.message}`,
      ),
    );
  const request = parsed.data;
  if (request.type === "stop") host.stop();
  else if (request.type === "kept") host.kept();
  else if (request.type === "close") void end();
  else working = working.then(() => host.play(request, say)).catch(fail);
});
// A parent that dies takes this process with it; the lease takes care of the arm meanwhile.
process.on("disconnect", () => {
  setTimeout(() => process.exit(1), END_TIMEOUT_MS).unref();
  void end();
});
// Ctrl-C reaches the whole foreground group; the parent decides what it means and stops the arm first.
process.on("SIGINT", () => {});
say({ type: "ready" });
