/**
 * The code that runs inside the guest before the program. `installGuestScope` is sent as text into QuickJS, so it must not refer to
 * anything outside its own body. It keeps the built-ins it needs in constants, because the program may change every prototype.
 */

/** What the host gives to the guest's side. Only strings, numbers and booleans cross. */
export type GuestBridge = {
  /** A call to put into this turn's batch. `json` holds name and arguments. */
  call(id: number, json: string): void;
  sleep(id: number, seconds: number): void;
  /** Counts a call or sleep that was refused here. */
  refused(): void;
  print(level: string, text: string): void;
  returned(json: string): void;
  threw(json: string): void;
  killed(code: string, message: string): void;
};

export type GuestScopeOptions = {
  names: string[];
  /** Those of `names` whose results carry a status: a refused call of theirs gives a result instead of throwing. */
  statusNames: string[];
  seed: number;
  time_s: number;
  maxArgumentChars: number;
  maxPathPoints: number;
  maxResultChars: number;
  maxSleep_s: number;
  maxLineChars: number;
};

/** What the host may do in the guest. */
export type GuestControls = {
  start(program: () => Promise<unknown>): void;
  /** JSON of `[id, ok, value-or-error][]`, and the device time. */
  settle(json: string, time_s: number): void;
};

export function installGuestScope(bridge: GuestBridge, options: GuestScopeOptions): GuestControls {
  const { names, maxPathPoints, maxLineChars } = options;
  const { parse, stringify } = JSON;
  const { apply, construct, defineProperty, getPrototypeOf } = Reflect;
  const { freeze, keys, create } = Object;
  const { isArray } = Array;
  const { isFinite: isFiniteNumber } = Number;
  const { floor, imul } = Math;
  const text = String;
  const NativePromise = Promise;
  const NativeDate = Date;
  const NativeError = Error;
  const NativeTypeError = TypeError;
  const global = globalThis as unknown as Record<string, unknown>;
  const tagOf = Object.prototype.toString;
  const { slice } = String.prototype;
  const { toISOString } = NativeDate.prototype;
  const { get: mapSize } = Object.getOwnPropertyDescriptor(Map.prototype, "size") as { get(): number };
  const { get: setSize } = Object.getOwnPropertyDescriptor(Set.prototype, "size") as { get(): number };
  let now_s = options.time_s;

  const define = (target: object, key: PropertyKey, value: unknown, writable = false): void => {
    const descriptor = create(null) as PropertyDescriptor;
    descriptor.value = value;
    descriptor.writable = writable;
    descriptor.configurable = writable;
    descriptor.enumerable = false;
    defineProperty(target, key, descriptor);
  };
  const cut = (value: string, limit: number): string =>
    value.length <= limit ? value : `${apply(slice, value, [0, limit])}… (${value.length - limit} more characters)`;
  const tag = (value: unknown): string => {
    const full = apply(tagOf, value, []) as string;
    return apply(slice, full, [8, full.length - 1]) as string;
  };

  // ---- errors

  class RobotError extends NativeError {
    readonly code!: string;
    constructor(code: string, message: string) {
      super(text(message));
      define(this, "name", "RobotError", true);
      define(this, "code", text(code), true);
    }
  }
  /** Where the program is now: the frames that a later failure of the call shows. */
  const callSite = (): string => new NativeError().stack ?? "";
  const robotError = (code: string, message: string, site: string): RobotError => {
    const error = new RobotError(code, message);
    define(error, "stack", site, true);
    return error;
  };

  // ---- plain data to JSON, naming what is not plain

  type Refusal = { reason: "invalid" | "large"; message: string };
  type Encoding = { what: string; maxChars: number; maxArray: number; left: number };
  const MAX_DEPTH = 32;

  const refuse = (message: string, reason: "invalid" | "large" = "invalid"): never => {
    const refusal = create(null) as Refusal;
    refusal.reason = reason;
    refusal.message = message;
    throw refusal;
  };
  const isRefusal = (error: unknown): error is Refusal =>
    typeof error === "object" && error !== null && getPrototypeOf(error) === null && "reason" in error;

  const spend = (encoding: Encoding, json: string): string => {
    encoding.left -= json.length + 1;
    if (encoding.left < 0) refuse(`${encoding.what} is longer than ${encoding.maxChars} characters as JSON`, "large");
    return json;
  };

  const encode = (value: unknown, path: string, depth: number, encoding: Encoding): string => {
    switch (typeof value) {
      case "number":
        if (!isFiniteNumber(value)) refuse(`${path} is ${text(value)}; numbers must be finite`);
        return spend(encoding, text(value));
      case "boolean":
        return spend(encoding, value ? "true" : "false");
      case "string":
        if (value.length > encoding.left) spend(encoding, value);
        return spend(encoding, stringify(value));
      case "object":
        if (value === null) return spend(encoding, "null");
        break;
      default:
        return refuse(
          `${path} is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}, which is not plain data`,
        );
    }
    if (depth > MAX_DEPTH) refuse(`${path} is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    if (isArray(value)) {
      const { length } = value;
      if (length > encoding.maxArray)
        refuse(`${path} has ${length} entries; at most ${encoding.maxArray} are accepted`, "large");
      let json = "[";
      for (let i = 0; i < length; i++)
        json += (i === 0 ? "" : ",") + encode(value[i], `${path}[${i}]`, depth + 1, encoding);
      spend(encoding, "]");
      return `${json}]`;
    }
    const kind = tag(value);
    if (kind === "Promise") refuse(`${path} is a Promise: await it first`);
    if (kind !== "Object") refuse(`${path} is a ${kind}, which is not plain data`);
    const names = keys(value);
    let json = "{";
    for (let i = 0; i < names.length; i++) {
      const key = names[i] as string;
      const entry = (value as Record<string, unknown>)[key];
      if (entry === undefined) continue;
      json +=
        (json === "{" ? "" : ",") +
        spend(encoding, stringify(key)) +
        ":" +
        encode(entry, `${path}.${key}`, depth + 1, encoding);
    }
    spend(encoding, "}");
    return `${json}}`;
  };

  // ---- calls

  type Waiting = { resolve(value: unknown): void; reject(error: unknown): void; site: string };
  const waiting = create(null) as Record<number, Waiting>;
  let lastId = 0;

  /** A promise that the host settles, after `send` took the id; a refusal rejects it at once. */
  const request = (site: string, has_status: boolean, send: (id: number) => void): Promise<unknown> =>
    new NativePromise((resolve, reject) => {
      const id = ++lastId;
      try {
        send(id);
      } catch (error) {
        if (!isRefusal(error)) reject(error);
        else {
          const code = error.reason === "large" ? "budget_exhausted" : "invalid_argument";
          const { message } = error;
          if (has_status) resolve({ status: code, message });
          else reject(robotError(code, message, site));
        }
        bridge.refused();
        return;
      }
      const entry = create(null) as Waiting;
      entry.resolve = resolve;
      entry.reject = reject;
      entry.site = site;
      waiting[id] = entry;
    });

  const robot = create(null) as Record<string, unknown>;
  for (let n = 0; n < names.length; n++) {
    const name = names[n] as string;
    let has_status = false;
    for (let i = 0; i < options.statusNames.length; i++) has_status ||= options.statusNames[i] === name;
    const operation = (...args: unknown[]): Promise<unknown> =>
      request(callSite(), has_status, (id) => {
        const encoding = create(null) as Encoding;
        encoding.what = `the arguments of robot.${name}`;
        encoding.maxChars = encoding.left = options.maxArgumentChars;
        encoding.maxArray = maxPathPoints;
        let { length } = args;
        while (length > 0 && args[length - 1] === undefined) length--;
        let json = "";
        for (let i = 0; i < length; i++) {
          json +=
            (i === 0 ? "" : ",") +
            encode(args[i], `robot.${name}: argument${length > 1 ? ` ${i + 1}` : ""}`, 0, encoding);
        }
        bridge.call(id, `{"name":${stringify(name)},"args":[${json}]}`);
      });
    define(operation, "name", name);
    freeze(operation);
    const descriptor = create(null) as PropertyDescriptor;
    descriptor.value = operation;
    descriptor.enumerable = true;
    defineProperty(robot, name, descriptor);
  }
  freeze(robot);

  const sleep = (seconds: unknown): Promise<unknown> =>
    request(callSite(), false, (id) => {
      if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= options.maxSleep_s)) {
        refuse(
          `sleep takes 0 to ${options.maxSleep_s} seconds, not ${typeof seconds === "number" ? text(seconds) : `a ${typeof seconds}`}`,
        );
      }
      bridge.sleep(id, seconds as number);
    });

  // ---- console

  const MAX_ENTRIES = 100;
  const show = (value: unknown, depth: number, left: { chars: number }): string => {
    const spent = (shown: string): string => {
      left.chars -= shown.length;
      return shown;
    };
    if (left.chars <= 0) return "…";
    switch (typeof value) {
      case "string":
        return spent(depth === 0 ? cut(value, maxLineChars) : stringify(cut(value, maxLineChars)));
      case "number":
        return spent(value === 0 && 1 / value < 0 ? "-0" : text(value));
      case "bigint":
        // writing out a huge one would take quadratic time
        return spent(value > -0x20000000000000n && value < 0x20000000000000n ? `${text(value)}n` : "[large bigint]");
      case "function":
        return spent("[function]");
      case "object":
        break;
      default:
        return spent(cut(text(value), maxLineChars));
    }
    if (value === null) return spent("null");
    const kind = tag(value);
    if (kind === "Error") {
      const { name, message } = value as Error;
      return spent(
        `${cut(typeof name === "string" ? name : "Error", 100)}: ${cut(typeof message === "string" ? message : "", maxLineChars)}`,
      );
    }
    if (kind === "Date") return spent(apply(toISOString, value, []) as string);
    if (kind === "Promise") return spent("[promise: await it]");
    if (kind === "Map") return spent(`[map of ${apply(mapSize, value, [])}]`);
    if (kind === "Set") return spent(`[set of ${apply(setSize, value, [])}]`);
    if (depth > 4) return spent(isArray(value) ? "[…]" : "{…}");
    if (isArray(value)) {
      let shown = "[";
      for (let i = 0; i < value.length && i < MAX_ENTRIES && left.chars > 0; i++)
        shown += (i === 0 ? "" : ", ") + show(value[i], depth + 1, left);
      return `${shown}${value.length > MAX_ENTRIES ? `, … (${value.length} entries)` : ""}${spent("]")}`;
    }
    const entries = keys(value);
    let shown = kind === "Object" ? "{" : `${cut(kind, 100)} {`;
    for (let i = 0; i < entries.length && i < MAX_ENTRIES && left.chars > 0; i++) {
      const key = entries[i] as string;
      shown +=
        (i === 0 ? " " : ", ") +
        spent(cut(key, 200)) +
        ": " +
        show((value as Record<string, unknown>)[key], depth + 1, left);
    }
    return `${shown}${entries.length > MAX_ENTRIES ? `, … (${entries.length} entries)` : ""}${entries.length > 0 ? " " : ""}${spent("}")}`;
  };
  const printer =
    (level: string) =>
    (...values: unknown[]): void => {
      let line = "";
      for (let i = 0; i < values.length; i++) {
        let shown: string;
        try {
          shown = show(values[i], 0, { chars: maxLineChars });
        } catch {
          shown = "[cannot be shown]";
        }
        line += (i === 0 ? "" : " ") + shown;
        if (line.length > maxLineChars) break;
      }
      // what was cut already says so itself
      bridge.print(level, cut(line, maxLineChars + 100));
    };
  const consoleObject = create(null) as Record<string, unknown>;
  const levels = ["log", "warn", "error"];
  for (let i = 0; i < levels.length; i++) {
    const level = levels[i] as string;
    const print = freeze(printer(level));
    const descriptor = create(null) as PropertyDescriptor;
    descriptor.value = print;
    descriptor.enumerable = true;
    defineProperty(consoleObject, level, descriptor);
  }
  freeze(consoleObject);

  // ---- episode time and seeded numbers

  const EpisodeDate = function (this: unknown, ...args: unknown[]): unknown {
    const asked = args.length === 0 ? [now_s * 1000] : args;
    if (new.target === undefined) return text(construct(NativeDate, [now_s * 1000]));
    return construct(NativeDate, asked, new.target);
  };
  define(EpisodeDate, "name", "Date");
  define(EpisodeDate, "length", 7);
  define(EpisodeDate, "prototype", NativeDate.prototype);
  define(EpisodeDate, "parse", NativeDate.parse);
  define(EpisodeDate, "UTC", NativeDate.UTC);
  define(EpisodeDate, "now", () => floor(now_s * 1000));
  define(NativeDate.prototype, "constructor", EpisodeDate);

  // xoshiro128** (Blackman, Vigna), its state filled by splitmix32 from the seed
  let mix = options.seed >>> 0;
  const splitmix = (): number => {
    mix = (mix + 0x9e3779b9) | 0;
    let z = mix ^ (mix >>> 16);
    z = imul(z, 0x21f0aaad);
    z ^= z >>> 15;
    z = imul(z, 0x735a2d97);
    return z ^ (z >>> 15);
  };
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  const rotl = (x: number, k: number): number => (x << k) | (x >>> (32 - k));
  const random32 = (): number => {
    const out = imul(rotl(imul(s1, 5), 7), 9) >>> 0;
    const t = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = rotl(s3, 11);
    return out;
  };
  s0 = splitmix();
  s1 = splitmix();
  s2 = splitmix();
  s3 = splitmix();
  define(Math, "random", () => ((random32() >>> 5) * 67_108_864 + (random32() >>> 6)) / 9_007_199_254_740_992);

  // ---- no code from strings: what was checked is what runs

  const refused = (): never => {
    throw new NativeTypeError("code from strings is not available in a program");
  };
  const functionKinds = [() => {}, async () => {}, function* () {}, async function* () {}];
  for (let i = 0; i < functionKinds.length; i++) {
    const prototype = getPrototypeOf(functionKinds[i] as object) as object;
    define(prototype, "constructor", refused);
    if (i === 0) define(refused, "prototype", prototype);
  }
  define(global, "Function", refused);
  delete global.eval;

  define(global, "Date", EpisodeDate);
  define(global, "robot", robot);
  define(global, "console", consoleObject);
  define(global, "sleep", freeze(sleep));
  define(global, "RobotError", RobotError);

  // ---- start, replies, end

  const read = (source: unknown, key: string): string | undefined => {
    try {
      const value = (source as Record<string, unknown>)[key];
      return typeof value === "string" ? cut(value, 4_000) : undefined;
    } catch {
      return undefined;
    }
  };
  const describe = (thrown: unknown): string => {
    const is_object = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
    const looks_error = is_object && read(thrown, "message") !== undefined;
    let message = read(thrown, "message") ?? "";
    if (!looks_error) {
      let shown = "a value that cannot be shown";
      try {
        shown = cut(show(thrown, 1, { chars: 1_000 }), 1_000);
      } catch {
        // the words above stand
      }
      message = `the program threw ${shown}, which is not an Error`;
    }
    const name = looks_error ? (read(thrown, "name") ?? "Error") : "ThrownValue";
    const code = is_object ? read(thrown, "code") : undefined;
    const stack = is_object ? (read(thrown, "stack") ?? "") : "";
    const coded = code === undefined ? "" : `,"code":${stringify(code)}`;
    return `{"name":${stringify(name)},"message":${stringify(message)},"stack":${stringify(stack)}${coded}}`;
  };

  const start = async (program: () => Promise<unknown>): Promise<void> => {
    let value: unknown;
    try {
      value = await program();
    } catch (error) {
      bridge.threw(describe(error));
      return;
    }
    const encoding = create(null) as Encoding;
    encoding.what = "the returned value";
    encoding.maxChars = encoding.left = options.maxResultChars;
    encoding.maxArray = options.maxResultChars;
    try {
      bridge.returned(value === undefined ? "null" : encode(value, "the returned value", 0, encoding));
    } catch (error) {
      if (!isRefusal(error)) bridge.threw(describe(error));
      else bridge.killed(error.reason === "large" ? "result_too_large" : "result_invalid", error.message);
    }
  };
  const settle = (json: string, time_s: number): void => {
    now_s = time_s;
    const batch = parse(json) as [number, boolean, unknown][];
    for (let i = 0; i < batch.length; i++) {
      const item = batch[i] as [number, boolean, unknown];
      const entry = waiting[item[0]] as Waiting;
      delete waiting[item[0]];
      if (item[1]) entry.resolve(item[2]);
      else {
        const { code, message } = item[2] as { code: string; message: string };
        entry.reject(robotError(code, message, entry.site));
      }
    }
  };
  const controls = create(null) as GuestControls;
  controls.start = start;
  controls.settle = settle;
  return controls;
}
