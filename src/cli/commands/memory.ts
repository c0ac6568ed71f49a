import { join, resolve } from "node:path";
import type { Command } from "commander";
import { readMemories, writeLock } from "../../memory/index.js";
import type { Ended } from "../main.js";

export function addMemory(program: Command, _ended: Ended): void {
  const memory = program.command("memory").description("work with memory libraries");
  memory
    .command("lock")
    .description("check every entry of a pair of libraries and write their locks")
    .argument("<folder>", "folder that holds cerebellum/ and brain/")
    .action((folder: string) => {
      const cerebellum = writeLock(join(resolve(folder), "cerebellum"), "cerebellum");
      const brain = writeLock(join(resolve(folder), "brain"), "brain", cerebellum);
      process.stdout.write(`cerebellum ${cerebellum}\nbrain      ${brain}\n`);
    });
  memory
    .command("list")
    .description("list the entries of a pair of libraries with what triggers them")
    .argument("<folder>", "folder that holds cerebellum/ and brain/")
    .action((folder: string) => {
      for (const library of Object.values(readMemories(resolve(folder)))) {
        process.stdout.write(`${library.level} ${library.digest.slice(0, 12)}\n`);
        for (const { front } of library.entries)
          process.stdout.write(`  ${front.id.padEnd(20)} ${front.trigger.words}\n`);
      }
    });
}
