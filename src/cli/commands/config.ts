import Table from "cli-table3";
import type { Command } from "commander";
import { CONFIG_KEYS, configJsonSchema, loadConfig } from "../../config/index.js";
import type { Ended } from "../main.js";

const valueAt = (config: object, key: string): unknown =>
  key.split(".").reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], config);

export function addConfig(program: Command, _ended: Ended): void {
  const config = program.command("config").description("look at the configuration");
  config
    .command("show")
    .description("print every key with its value and where that comes from")
    .option("--config <file>", "configuration file (default: skill2real.toml here, if there is one)")
    .option("--json", "print one JSON object", false)
    .action(({ config: file, json }: { config?: string; json: boolean }) => {
      const loaded = loadConfig({ ...(file ? { file } : {}), environment: process.env });
      if (json) return void process.stdout.write(`${JSON.stringify(loaded.config, null, 2)}\n`);
      const table = new Table({ head: ["key", "value", "from"], style: { head: [], border: [] } });
      for (const { dotted: key } of CONFIG_KEYS)
        table.push([key, JSON.stringify(valueAt(loaded.config, key)) ?? "", loaded.origins.get(key) ?? "default"]);
      process.stdout.write(`${table.toString()}\n`);
    });
  config
    .command("schema")
    .description("print the JSON schema of the configuration file, for editors")
    .action(() => {
      process.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
    });
}
