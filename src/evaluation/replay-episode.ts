import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ReplayBackend } from "../../backends/replay/launch.js";
import { type EpisodeReport, playEpisode } from "../agents/episode.js";
import { CASSETTE_FILE } from "../agents/exchanges/cassette.js";
import { Exchanges } from "../agents/exchanges/exchanges.js";
import { ExchangedModel } from "../agents/llm/exchanged-model.js";
import type { Model } from "../agents/llm/model.js";
import { loadSkills } from "../agents/load-skills.js";
import type { StageRecord } from "../agents/proposer.js";
import { RecordedProposer } from "../agents/recorded-proposer.js";
import { serviceSettingsSchema } from "../agents/services/settings.js";
import { skillServices } from "../agents/services/vision-services.js";
import type { ToolFields } from "../agents/tools/tool-caller.js";
import { isSkill2RealError, Skill2RealError } from "../contract/errors.js";
import type { MotionSettings, PerceptionSettings } from "../contract/settings.js";
import { ProgramChecker, Sandbox } from "../program/index.js";
import { DeviceClient } from "../runtime/device/device-client.js";
import { type FailureStatus, OperationFailure, type SkillServices } from "../runtime/operation.js";
import { firstDifference } from "../runtime/recording/compare-requests.js";
import { Session } from "../runtime/session.js";
import { NO_TRACE, type TraceSink } from "../runtime/trace-sink.js";
import {
  type EpisodeCall,
  type EpisodeImage,
  imageDigest,
  type RecordedEpisode,
  readEpisode,
} from "./recorded-episode.js";

export type ReplayEpisodeOptions = {
  /** The .mcap file of a run. */
  recording: string;
  onStage?: (stage: StageRecord) => void;
  signal?: AbortSignal;
};

export type EpisodeReplay = {
  instruction: string;
  /** Stages, calls and pictures that were played again. */
  stages: number;
  calls: number;
  images: number;
  /** Null where everything was as recorded; else the first thing that was not, in words. */
  divergence: string | null;
  /** The recording ends before its episode did (its backend was lost, or it was killed), and was the same up to there. */
  ends_early: boolean;
};

/**
 * Plays the programs of a recorded episode again, on the recorded replies and pixels, with the recorded settings: the same
 * checks, sandbox, perception and planning, no world. Whatever a call asks or gives that is not as recorded is a divergence.
 */
export async function replayEpisode(options: ReplayEpisodeOptions): Promise<EpisodeReplay> {
  const recorded = await readEpisode(options.recording);
  const played = new Played();
  const ended = await play(recorded, played, options);
  const divergence = differenceOf(recorded, played, ended);
  const ends_early = divergence === null && "refused" in ended;
  const { calls, images, stages } = played;
  return {
    instruction: recorded.instruction,
    stages,
    calls: calls.length,
    images: images.length,
    divergence,
    ends_early,
  };
}

/** What the episode does this time. */
class Played {
  readonly calls: EpisodeCall[] = [];
  readonly images: EpisodeImage[] = [];
  stages = 0;
  readonly sink: TraceSink = {
    ...NO_TRACE,
    // As the trace keeps them, so that undefined fields and negative zeros compare as they were written.
    call: ({ stage, operation, request, result, start_s, end_s }) =>
      this.calls.push({ stage, operation, request: asJson(request), result: asJson(result), start_s, end_s }),
    image: ({ topic, png }) => this.images.push({ topic, sha256: imageDigest(png) }),
  };
}

/** Services that answer what the vision model answered then, from the cassette beside the recording; `diverged` for anything else. */
function recordedServices(recording: string, settings: unknown): SkillServices | undefined {
  const services = serviceSettingsSchema.safeParse(withAddress(settings)).data;
  if (!services) return undefined;
  const path = join(dirname(recording), CASSETTE_FILE);
  const cassette = existsSync(path) ? readFileSync(path, "utf8") : null;
  const exchanges = cassette === null ? null : new Exchanges({ replay: { cassette, policy: null, strict: true } });
  const nobody: Model = {
    complete: async () => {
      throw new Skill2RealError("internal", "a model was asked in a replay");
    },
  };
  return skillServices(services, (kind, messages) => {
    if (!exchanges)
      throw new Skill2RealError(
        "diverged",
        `the program asks a vision model, and there is no ${CASSETTE_FILE} beside the recording with its answers`,
      );
    const model = new ExchangedModel({ kind, survives: true, exchanges, live: nobody, folder: "." });
    return model.complete(messages, new AbortController().signal);
  });
}

/** A trace keeps no address, and nobody is asked; the rest of the settings decides what the questions say. */
const withAddress = (settings: unknown): unknown => {
  const { model, ...roles } = (settings ?? {}) as { model?: object };
  return model ? { ...roles, model: { ...model, base_url: "recorded:" } } : roles;
};

/** What a foreign tool gave then. The trace has it, for it holds every call with its result; no server is asked. */
function recordedAnswer(call: EpisodeCall | undefined, name: string, request: unknown): ToolFields {
  if (call?.operation !== name || firstDifference(call.request, asJson(request)) !== null)
    throw new Skill2RealError("diverged", `the program calls ${name}, which the recording does not hold here`);
  const { status, message, ...fields } = call.result as { status: string; message: string };
  if (status === "ok") return fields as ToolFields;
  throw new OperationFailure(status as FailureStatus, message, fields);
}

type Ended = { report: EpisodeReport } | { refused: string };

async function play(recorded: RecordedEpisode, played: Played, options: ReplayEpisodeOptions): Promise<Ended> {
  const { session: made, programs, end, instruction } = recorded;
  const { motion, perception, quotas, budgets } = made.settings;
  const skills = await loadSkills(made.settings.skills, recordedServices(options.recording, made.settings.services), {
    call: async (tool, request) => recordedAnswer(recorded.calls[played.calls.length], tool.function_name, request),
  });
  const backend = await ReplayBackend.spawn({ recording: options.recording });
  const checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
  const sandbox = await Sandbox.create();
  let session: Session | null = null;
  try {
    const device = await DeviceClient.connect({
      ...backend.addresses,
      role: "CONTROLLER",
      client: "skill2real/replay",
    });
    session = Session.open({
      device,
      operations: skills.operations,
      trace: played.sink,
      motion: motion as Partial<MotionSettings>,
      perception: perception as Partial<PerceptionSettings>,
      refKey: made.ref_key,
    });
    const proposer = new RecordedProposer({ programs, claim: end?.claim ?? null, evidence: end?.evidence ?? "" });
    const report = await playEpisode({
      session,
      checker,
      sandbox,
      proposer,
      instruction,
      names: skills.functionNames,
      statusNames: skills.statusNames,
      randomSeed: made.random_seed,
      budgets,
      quotas,
      ...(made.settings.path_length_m === undefined ? {} : { pathLength_m: made.settings.path_length_m }),
      trace: played.sink,
      onStage: (stage) => {
        played.stages = stage.stage;
        options.onStage?.(stage);
      },
      ...(options.signal ? { signal: options.signal } : {}),
    });
    return { report };
  } catch (error) {
    if (isSkill2RealError(error, "diverged")) return { refused: error.message };
    throw error;
  } finally {
    await session?.close();
    await sandbox.close();
    await checker.close();
    await backend.close();
  }
}

/** The first thing that is not as recorded: calls and pictures come before what the backend refused because of them. */
function differenceOf(recorded: RecordedEpisode, { calls, images }: Played, ended: Ended): string | null {
  for (const [i, call] of calls.entries()) {
    const before = recorded.calls[i];
    const at = `call ${i + 1} (${call.operation}, stage ${call.stage})`;
    if (!before) return `${at} was not recorded: the recording has ${recorded.calls.length} calls`;
    const timed = recorded.clock === "SIM" ? call : { ...call, start_s: before.start_s, end_s: before.end_s };
    const difference = firstDifference(before, timed);
    if (difference !== null) return `${at}: ${difference}`;
  }
  for (const [i, image] of images.entries()) {
    const difference = firstDifference(recorded.images[i], image);
    if (difference !== null) return `picture ${i + 1} (${image.topic}): ${difference}`;
  }
  const cut = recorded.end === null || recorded.end.outcome === "lost";
  if ("refused" in ended) return cut && ended.refused.includes("the recording ends") ? null : ended.refused;
  if (calls.length < recorded.calls.length)
    return `${calls.length} of ${recorded.calls.length} recorded calls were made`;
  const { outcome, claim } = ended.report;
  return firstDifference({ outcome: recorded.end?.outcome, claim: recorded.end?.claim ?? null }, { outcome, claim });
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null");
