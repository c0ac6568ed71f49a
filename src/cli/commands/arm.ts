import type { Command } from "commander";
import { NativeBackend } from "../../../backends/native/launch.js";
import {
  type OperatorAddress,
  operatorRecover,
  operatorStatus,
  type Recovered,
} from "../../../backends/native/operator.js";
import { isSkill2RealError, Skill2RealError } from "../../contract/errors.js";
import type { DeviceAddresses } from "../../runtime/device/device.js";
import { DeviceClient } from "../../runtime/device/device-client.js";
import { confirmTyped } from "../confirm.js";
import { liveBackends } from "../live-backends.js";
import type { Ended } from "../main.js";
import { liveOperators } from "../operator-notes.js";
import { type RigOptions, rigOf, speedOf } from "../rigs.js";
import { commandConfig } from "../settings.js";

type Reached = {
  rig: string;
  operator: OperatorAddress;
  addresses: DeviceAddresses | null;
  close: () => Promise<unknown>;
};

/** The running native backend, or one that is started on the rig for as long as this takes. */
async function reach(options: RigOptions): Promise<Reached> {
  const [running] = liveOperators(commandConfig(options).runs.folder);
  if (running) {
    const addresses = liveBackends().find(({ pid }) => pid === running.pid)?.addresses ?? null;
    return { rig: running.rig, operator: running.operator, addresses, close: async () => {} };
  }
  const named = rigOf(options);
  if (named.emulated)
    throw new Skill2RealError(
      "not_found",
      "no native backend runs whose runs are kept here: name the real rig with --rig, or the folder with --runs",
    );
  const native = await NativeBackend.spawn({ rig: named.rig, speedCap: speedOf(named, options) });
  return {
    rig: named.name,
    operator: native.operator,
    addresses: native.addresses,
    close: () => native.close(),
  };
}

/** Clears the stop with the token; false where a running session controls the arm, whose it is to resume. */
async function resumeWith(addresses: DeviceAddresses, { token, stop_epoch }: Recovered): Promise<boolean> {
  let device: DeviceClient;
  try {
    device = await DeviceClient.connect({ ...addresses, role: "CONTROLLER", client: "skill2real/arm" });
  } catch (error) {
    if (isSkill2RealError(error, "backend_refused")) return false;
    throw error;
  }
  try {
    await device.resume({ stop_epoch, token });
    return true;
  } finally {
    await device.bye();
  }
}

export function addArm(program: Command, _ended: Ended): void {
  program
    .command("arm")
    .description("a person's commands to the arm of a rig")
    .command("recover")
    .description("after a protective stop: once you have looked, wait out the lock-out and let the arm be resumed")
    .option("--rig <rig>", "a rig on which no command runs at present: a name of the configuration, or FILE.toml")
    .option("--runs <folder>", "folder of runs of the command whose arm it is")
    .option("--config <file>", "configuration file")
    .action(async (options: RigOptions) => {
      const reached = await reach(options);
      try {
        const status = await operatorStatus(reached.operator);
        if (status.fault_code === "") {
          process.stdout.write(
            `the arm of "${reached.rig}" has no fault${status.stop_latched ? `; a stop is latched (${status.stop_reason}), which needs no recovery` : ""}\n`,
          );
          return;
        }
        await confirmTyped({
          warning: [
            `The arm of "${reached.rig}" stopped itself: ${status.fault_code}: ${status.fault_message}`,
            "Look at the arm, free what it touches, and stand clear. The recovery unlocks it; it does not move by that.",
          ].join("\n"),
          word: "I have looked",
        });
        const recovered = await operatorRecover(reached.operator, (seconds) =>
          process.stderr.write(`the controller's lock-out ends in ${seconds.toFixed(0)} s\n`),
        );
        const resumed = reached.addresses !== null && (await resumeWith(reached.addresses, recovered));
        process.stdout.write(
          resumed
            ? `recovered (number ${recovered.count}); the stop is cleared\n`
            : `recovered (number ${recovered.count}); the session that controls the arm resumes it with the token ${recovered.token}\n`,
        );
      } finally {
        await reached.close();
      }
    });
}
