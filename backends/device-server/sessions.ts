import { randomBytes } from "node:crypto";
import type { Hello, Role } from "../../src/contract/generated/device.js";
import type { Lease } from "./lease.js";
import { badArgument, Refusal } from "./refusal.js";
import { type ReplyBudget, ReplyCache } from "./reply-cache.js";

export const LEAST_LEASE_MS = 100;
export const MOST_LEASE_MS = 60_000;
/** Sessions beyond this many are forgotten, the longest silent first; the controller's never is. */
const MOST_SESSIONS = 256;

export type DeviceSession = {
  readonly name: string;
  readonly role: Role;
  readonly client: string;
  /** 0 for all but a controller. */
  readonly lease_ms: number;
  readonly replies: ReplyCache;
  next_sequence: number;
  ended: boolean;
};

/** Who speaks, in which role; and the one controller, whose requests keep its lease. */
export class Sessions {
  readonly #budget: ReplyBudget;
  readonly #lease: Lease;
  readonly #sessions = new Map<string, DeviceSession>();
  #controller: DeviceSession | null = null;
  #lapsed = false;
  /** Requests of the controller that the backend is inside of. */
  #inside = 0;

  constructor(budget: ReplyBudget, lease: Lease) {
    this.#budget = budget;
    this.#lease = lease;
  }

  /** Throws Refusal for an unknown role, a lease out of range, or a second controller. */
  open({ role, client, lease_ms }: Hello): DeviceSession {
    if (role === "ROLE_UNSPECIFIED") throw badArgument("Hello names no role: be CONTROLLER, OBSERVER or STOPPER");
    const controls = role === "CONTROLLER";
    if (controls && !(lease_ms >= LEAST_LEASE_MS && lease_ms <= MOST_LEASE_MS))
      throw badArgument(`lease_ms is ${lease_ms}; a controller asks for ${LEAST_LEASE_MS} to ${MOST_LEASE_MS}`);
    if (controls && this.#controller && !this.#lapsed)
      throw new Refusal(
        "ERROR_CONTROLLER_TAKEN",
        "another session is the controller; wait for its Bye or until its lease lapses",
      );
    const session: DeviceSession = {
      name: randomBytes(16).toString("hex"),
      role,
      client,
      lease_ms: controls ? lease_ms : 0,
      replies: new ReplyCache(this.#budget),
      next_sequence: 1,
      ended: false,
    };
    this.#sessions.set(session.name, session);
    if (controls) {
      this.#controller = session;
      this.#lapsed = false;
      this.#inside = 0;
      this.#lease.hold(false);
      this.#lease.renew(lease_ms);
    }
    this.#forgetOldest();
    return session;
  }

  find(name: string): DeviceSession | null {
    const session = this.#sessions.get(name);
    if (!session) return null;
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    return session;
  }

  /** The session stays known, so that a repeated Bye gets its reply, and takes nothing new. */
  end(session: DeviceSession): void {
    session.ended = true;
    if (session !== this.#controller) return;
    this.#controller = null;
    this.#lease.end();
  }

  controls(session: DeviceSession): boolean {
    return session === this.#controller;
  }

  /** Throws Refusal where a controller lapsed and another one took over. */
  requireControl(session: DeviceSession): void {
    if (session !== this.#controller)
      throw new Refusal(
        "ERROR_CONTROLLER_TAKEN",
        "this session's lease lapsed and another session is the controller now",
      );
  }

  /** A request of the session came: it renews the lease, also a lapsed one that nobody took over. */
  enter(session: DeviceSession): void {
    if (session !== this.#controller) return;
    this.#lapsed = false;
    this.#inside += 1;
    this.#lease.renew(session.lease_ms);
    if (this.#inside === 1) this.#lease.hold(true);
  }

  leave(session: DeviceSession): void {
    if (session !== this.#controller) return;
    this.#inside = Math.max(0, this.#inside - 1);
    if (this.#inside === 0) this.#lease.hold(false);
    this.#lease.renew(session.lease_ms);
  }

  /** The lease lapsed, by whoever's clock: another session may become the controller. Gives the client's name. */
  lapse(): string {
    this.#lapsed = this.#controller !== null;
    return this.#controller?.client ?? "";
  }

  #forgetOldest(): void {
    for (const [name, session] of this.#sessions) {
      if (this.#sessions.size <= MOST_SESSIONS) return;
      if (session === this.#controller) continue;
      session.replies.close();
      this.#sessions.delete(name);
    }
  }
}
