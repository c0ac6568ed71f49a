import type { ArmState, GripperState, StateReply } from "../contract/generated/device.js";
import type { PerceptionSettings } from "../contract/settings.js";
import type { ArmRuntime, Arms } from "./arms.js";
import type { Device } from "./device/device.js";
import type { HeldObjects } from "./held-objects.js";
import type { ImageStore } from "./image-store.js";
import type { MotionLimits } from "./motion-limits.js";
import type { ObservationStore } from "./observation-store.js";
import type { ObservedScene } from "./observed-scene.js";
import type { PathBudget } from "./path-budget.js";
import type { StageMemory } from "./stage-memory.js";
import type { TraceSink } from "./trace-sink.js";

/** What the code of an operation works with. */
export type OperationContext = {
  readonly device: Device;
  readonly arms: Arms;
  readonly observations: ObservationStore;
  readonly scene: ObservedScene;
  readonly held: HeldObjects;
  readonly images: ImageStore;
  readonly limits: MotionLimits;
  readonly perception: PerceptionSettings;
  readonly stage: StageMemory;
  readonly trace: TraceSink;
  readonly path: PathBudget;
  /** The state of now, measured. */
  state(): Promise<StateReply>;
  /** Lets device time pass, where the clock is simulated: an operation's documented cost. */
  spend(seconds: number): Promise<void>;
  /** Throws what the present stop, fault or loss means for an operation. */
  armState(arm: ArmRuntime): Promise<ArmState>;
  gripperState(arm: ArmRuntime): Promise<GripperState>;
};
