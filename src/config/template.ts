import { stringify } from "smol-toml";
import { CONFIG_SECTIONS, type ConfigKey } from "./keys.js";

const EXAMPLES: Readonly<Record<string, string>> = {
  "backend.recording": 'recording = "runs/2031-05-04/episode.mcap"',
  "motion.workspace_min_xyz": "workspace_min_xyz = [0.2, -0.4, 0.0]",
  "motion.workspace_max_xyz": "workspace_max_xyz = [0.8, 0.4, 0.6]",
  "motion.zones": '[[motion.zones]]\nname = "shelf"\nmin_xyz = [0.5, 0.3, 0.0]\nmax_xyz = [0.8, 0.6, 0.5]',
  "mcp.servers":
    '[mcp.servers.clock]\ncommand = "node"\nargs = ["clock-server.mjs"]\nenv = ["CLOCK_KEY"]\ntools = ["now"]\n\n[mcp.servers.stock]\nurl = "http://127.0.0.1:9000/mcp"\ntoken_env = "STOCK_TOKEN"\ntools = ["*"]\ndeadline_s = 10.0',
  "proposer.library": 'library = "memories/mine"',
  "proposer.script": 'script = "program.ts"',
  "model.base_url": 'base_url = "http://127.0.0.1:8080/v1"',
  "model.name": 'name = "a-model"',
  "model.price_in": "price_in = 2.5",
  "model.price_out": "price_out = 10",
  "model.budget_tokens": "budget_tokens = 500000",
  "model.budget_money": "budget_money = 2.0",
  "model.budget_wait_s": "budget_wait_s = 600",
  "services.base_url": 'base_url = "http://127.0.0.1:8080/v1"',
  "services.name": 'name = "a-model-that-sees"',
  "services.price_in": "price_in = 2.5",
  "services.price_out": "price_out = 10",
  "services.budget_tokens": "budget_tokens = 200000",
  "services.budget_money": "budget_money = 1.0",
};

/** Keys that are written as tables of their own. */
const TABLES: ReadonlySet<string> = new Set(["motion.zones", "mcp.servers"]);

export const commented = (text: string): string => text.replace(/^/gm, "# ");

export function wrap(text: string, width = 116): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}

function keyLines(key: ConfigKey): string[] {
  const about = wrap(`${key.description} ${key.expected.replace(/^./, (first) => first.toUpperCase())}.`);
  const example = EXAMPLES[key.dotted];
  if (example !== undefined) return [...about.map(commented), commented(example), ""];
  return [...about.map(commented), stringify({ [key.name]: key.default }).trim(), ""];
}

/**
 * The commented configuration file that `skill2real init` writes. Keys with a default hold it; those that may be left out
 * stand commented, with an example.
 */
export function renderConfigTemplate(): string {
  const head = [
    "# Configuration of skill2real. Flags override SKILL2REAL__SECTION__KEY in the environment, which overrides this file,",
    "# which overrides the defaults below. Unknown keys are refused. Metres, radians, seconds. Relative paths are relative to",
    "# this file.",
    "",
  ];
  const sections = CONFIG_SECTIONS.flatMap(({ name, description, keys }) => {
    // Tables end their section, so they come last.
    const ordered = [...keys].sort((a, b) => Number(TABLES.has(a.dotted)) - Number(TABLES.has(b.dotted)));
    return [commented(description), `[${name}]`, "", ...ordered.flatMap(keyLines)];
  });
  return `${[...head, ...sections].join("\n").trimEnd()}\n`;
}
