import type { EndReason, GroupStatus, MotionStatus } from "../../../src/contract/generated/device.js";
import type { ReadMotion } from "../../device-server/read-motions.js";

export type Mover = "arm" | "gripper";

/** How a motion ended, beyond its reason. */
export type EndFacts = {
  end_reason: EndReason;
  time_s: number;
  fraction_done?: number;
  reached_point?: number;
  contact_force_n?: readonly number[];
  mean_force_n?: number;
};

type Running = { mover: Mover; from_m: number; target_m: number; status: MotionStatus };
type Group = { group: number; motions: Running[] };

const KEPT_GROUPS = 16;

/** Books of the motion groups of one arm with its gripper: which motions run, how they ended, what the outside is told. */
export class MotionGroups {
  #active: Group[] = [];
  #ended: Group[] = [];

  /** `opening_m`: where the gripper is now. */
  begin(group: number, motions: readonly ReadMotion[], opening_m: number): GroupStatus {
    const running = motions.map((motion, index): Running => {
      const status: MotionStatus = {
        index,
        end_reason: "END_UNSPECIFIED",
        end_time_s: 0,
        fraction_done: 0,
        contact_force_n: [],
        reached_point: 0,
        mean_force_n: 0,
      };
      return motion.kind === "gripper_move"
        ? { mover: "gripper", from_m: opening_m, target_m: motion.opening_m, status }
        : { mover: "arm", from_m: 0, target_m: 0, status };
    });
    const begun = { group, motions: running };
    this.#active.push(begun);
    return statusOf(begun);
  }

  /** Takes back a group that could not be started. */
  forget(group: number): void {
    this.#active = this.#active.filter((entry) => entry.group !== group);
  }

  /** The group whose motion of `mover` runs. */
  running(mover: Mover): number | null {
    return (
      this.#active.find(({ motions }) => motions.some((motion) => motion.mover === mover && isActive(motion)))?.group ??
      null
    );
  }

  get anyActive(): boolean {
    return this.#active.length > 0;
  }

  active(): GroupStatus[] {
    return this.#active.map(statusOf);
  }

  /** Brings the progress of what runs up to date. */
  refresh(arm: { group: number; fraction_done: number; reached_point: number }, opening_m: number): void {
    for (const { group, motions } of this.#active)
      for (const { mover, from_m, target_m, status } of motions.filter(isActive)) {
        if (mover === "gripper") {
          const way_m = Math.abs(target_m - from_m);
          const done = way_m > 1e-9 ? Math.abs(opening_m - from_m) / way_m : 0;
          status.fraction_done = Math.max(status.fraction_done, Math.min(1, done));
        } else if (arm.group === group) {
          status.fraction_done = Math.max(status.fraction_done, Math.min(1, arm.fraction_done));
          status.reached_point = Math.max(status.reached_point, arm.reached_point);
        }
      }
  }

  /** Ends the motion of `mover` in a group; null where none runs there. */
  end(group: number, mover: Mover, facts: EndFacts): GroupStatus | null {
    const found = this.#active.find((entry) => entry.group === group);
    const motion = found?.motions.find((entry) => entry.mover === mover && isActive(entry));
    if (!found || !motion) return null;
    const { status } = motion;
    status.end_reason = facts.end_reason;
    status.end_time_s = facts.time_s;
    if (facts.end_reason === "END_COMPLETED") status.fraction_done = 1;
    else status.fraction_done = Math.min(1, Math.max(status.fraction_done, facts.fraction_done ?? 0));
    status.reached_point = Math.max(status.reached_point, facts.reached_point ?? 0);
    status.contact_force_n = [...(facts.contact_force_n ?? [])];
    status.mean_force_n = facts.mean_force_n ?? 0;
    if (!found.motions.some(isActive)) {
      this.#active = this.#active.filter((entry) => entry !== found);
      this.#ended = [...this.#ended, found].slice(-KEPT_GROUPS);
    }
    return statusOf(found);
  }

  /** The last ended groups, then the active ones. */
  statuses(): GroupStatus[] {
    return [...this.#ended, ...this.#active].map(statusOf);
  }
}

const isActive = ({ status }: Running): boolean => status.end_reason === "END_UNSPECIFIED";

const statusOf = ({ group, motions }: Group): GroupStatus => ({
  group,
  active: motions.some(isActive),
  motions: motions.map(({ status }) => ({ ...status, contact_force_n: [...status.contact_force_n] })),
});
