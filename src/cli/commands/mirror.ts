import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import Table from "cli-table3";
import type { Command } from "commander";
import { NativeBackend } from "../../../backends/native/launch.js";
import { DEFAULT_BUDGETS } from "../../agents/episode.js";
import { Skill2RealError } from "../../contract/errors.js";
import { episodeSettings } from "../../evaluation/episode-settings.js";
import { EpisodeWorker } from "../../evaluation/episode-worker.js";
import { mirrorArm } from "../../evaluation/mirror/mirror.js";
import type { MirrorGap } from "../../evaluation/mirror/mirror-twin.js";
import { type ArmPosture, PreviewWorld } from "../../evaluation/mirror/preview-world.js";
import { startEmulatedRig } from "../../evaluation/rig-world.js";
import type { DeviceAddresses } from "../../runtime/device/device.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { EXIT } from "../exit-codes.js";
import { formatStage } from "../format-stage.js";
import { onInterrupt } from "../interrupt.js";
import { liveBackends } from "../live-backends.js";
import type { Ended } from "../main.js";
import { liveOperators } from "../operator-notes.js";
import { type RigOptions, rigOf, speedOf } from "../rigs.js";
import { commandConfig } from "../settings.js";

type MirrorCommandOptions = RigOptions & {
  seconds?: number;
  json: boolean;
  picture?: string;
  preview?: string;
  seed?: number;
  runs?: string;
};

type Watched = { addresses: DeviceAddresses; close: () => Promise<unknown> };

/** The backend that runs now, or one that is started on the rig and holds the arm where it is. */
async function watched(options: MirrorCommandOptions): Promise<Watched> {
  // Of all that runs, native backends alone have an operator's line.
  const [native_note] = liveOperators(commandConfig(options).runs.folder);
  const running = native_note && liveBackends().find(({ pid }) => pid === native_note.pid);
  if (running) {
    process.stderr.write(`mirror: watching the rig "${native_note.rig}" of process ${running.pid}\n`);
    return { addresses: running.addresses, close: async () => {} };
  }
  const named = rigOf(options);
  const speedCap = speedOf(named, options);
  if (!named.emulated) {
    const native = await NativeBackend.spawn({ rig: named.rig, speedCap });
    return { addresses: native.addresses, close: () => native.close() };
  }
  const rig = await startEmulatedRig({ seed: 1 });
  try {
    const native = await NativeBackend.spawn({ rig: rig.rig, speedCap });
    const close = async (): Promise<void> => {
      await native.close();
      await rig.close();
    };
    return { addresses: native.addresses, close };
  } catch (error) {
    await rig.close();
    throw error;
  }
}

const columns = [
  "state age",
  "states",
  "largest joint error",
  "TCP distance",
  "of that kinematics",
  "opening",
  "the twin touches",
];

function row(gap: MirrorGap): string[] {
  return [
    `${gap.age_ms.toFixed(1)} ms`,
    `${gap.rate_hz.toFixed(0)}/s`,
    `${Math.max(...gap.joint_error_mrad.map(Math.abs)).toFixed(2)} mrad`,
    `${gap.tcp_distance_mm.toFixed(2)} mm`,
    `${gap.of_that_kinematics_mm.toFixed(2)} mm`,
    gap.opening_error_mm === null ? "-" : `${gap.opening_error_mm.toFixed(1)} mm`,
    gap.touches.join(", ") || "nothing",
  ];
}

async function follow({ addresses }: Watched, options: MirrorCommandOptions): Promise<boolean> {
  const aborter = new AbortController();
  const interrupt = onInterrupt(async () => aborter.abort());
  const timer = options.seconds === undefined ? undefined : setTimeout(() => aborter.abort(), 1e3 * options.seconds);
  const gaps: MirrorGap[] = [];
  let seen = 0;
  try {
    const sent = await mirrorArm({
      addresses,
      hz: options.json ? 10 : 1,
      signal: aborter.signal,
      ...(options.picture ? { picture: options.picture } : {}),
      onGap: (gap) => {
        seen += 1;
        gaps.push(gap);
        if (gaps.length > 600) gaps.shift();
        if (options.json) process.stdout.write(`${JSON.stringify(gap)}\n`);
        else process.stderr.write(`${row(gap).join("  ")}\n`);
      },
    });
    if (!options.json && gaps.length > 0) {
      const table = new Table({ head: columns, style: { head: [], border: [] } });
      const worst = gaps.reduce((a, b) => (b.tcp_distance_mm > a.tcp_distance_mm ? b : a));
      table.push(row(worst), row(gaps.at(-1)!));
      process.stdout.write(
        `${table.toString()}\nabove: the widest gap and the last one; ${sent} states sent, ${seen} gaps told\n`,
      );
    }
    return interrupt.interrupted();
  } finally {
    clearTimeout(timer);
    interrupt.dispose();
  }
}

async function postureOf(addresses: DeviceAddresses): Promise<ArmPosture> {
  const device = await DeviceClient.connect({ ...addresses, role: "OBSERVER", client: "mirror" });
  try {
    const { arms, grippers } = await device.getState();
    const [arm] = arms;
    if (!arm) throw new Skill2RealError("backend_refused", "the backend has no arm");
    return { q_rad: arm.q_rad, opening_m: grippers[0]?.opening_m ?? null };
  } finally {
    await device.bye();
  }
}

/** Plays a program in the twin, from where the live arm stands; the live arm does not move. */
async function preview({ addresses }: Watched, file: string, options: MirrorCommandOptions): Promise<boolean> {
  let source: string;
  try {
    source = readFileSync(resolve(file), "utf8");
  } catch (cause) {
    throw new Skill2RealError(
      "not_found",
      `the program ${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`,
      { cause },
    );
  }
  const posture = await postureOf(addresses);
  const config = commandConfig(options);
  const worker = new EpisodeWorker({
    runsFolder: config.runs.folder,
    world: () => new PreviewWorld({ posture, seed: options.seed ?? null }),
    onStage: (stage) => process.stderr.write(`${formatStage(stage)}\n`),
  });
  try {
    const result = await worker.play({
      task: "r1",
      seed: options.seed ?? 0,
      instruction: `preview of ${basename(file)}`,
      proposer: { kind: "script", source, fileName: basename(file) },
      settings: { ...episodeSettings(config), budgets: { ...DEFAULT_BUDGETS, ...config.episode } },
    });
    process.stdout.write(
      options.json
        ? `${JSON.stringify(result)}\n`
        : `preview in the twin: ${result.infrastructure ?? result.outcome}${result.evidence ? ` (${result.evidence})` : ""}, ${result.calls} calls in ${result.device_time_s.toFixed(1)} s of robot time; the run is ${result.run} ("skill2real show ${result.run}" shows its calls and pictures). The live arm has not moved.\n`,
    );
    // A program that ended and claims nothing has been previewed; one that failed, or was refused, has not.
    return result.infrastructure === null && result.claim !== null && result.claim !== "execution_failure";
  } finally {
    await worker.close();
  }
}

export function addMirror(program: Command, ended: Ended): void {
  program
    .command("mirror")
    .description(
      "the twin follows the live arm and shows the gap between both; --preview plays a program in the twin first",
    )
    .option("--rig <rig>", "where no command runs on a rig now: emulated, a name of the configuration, or FILE.toml")
    .option("--seconds <count>", "end after so long (default: with Ctrl-C)", Number)
    .option("--json", "print each gap as a line of JSON, ten a second", false)
    .option("--picture <file>", "PNG of the twin, rendered anew each second")
    .option(
      "--preview <program>",
      "play this program in the twin from the live arm's posture, on an empty table; the live arm stands",
    )
    .option("--seed <number>", "with --preview: put the things of this seed of task r1 on the twin's table", Number)
    .option("--runs <folder>", "folder of runs, for a preview's record")
    .option("--config <file>", "configuration file")
    .action(async (options: MirrorCommandOptions) => {
      if (options.seconds !== undefined && !(options.seconds > 0))
        throw new Skill2RealError("usage", `--seconds ${options.seconds}: give a number above 0`);
      const target = await watched(options);
      try {
        if (options.preview !== undefined) {
          if (!(await preview(target, options.preview, options))) ended(EXIT.failed);
        } else if (await follow(target, options)) ended(EXIT.interrupted);
      } finally {
        await target.close();
      }
    });
}
