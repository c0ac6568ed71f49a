export { composeProgram, type Triggered, triggeredBy } from "./compose.js";
export { type CodeBlock, type FrontMatter, type MemoryEntry, parseEntry, SECTIONS, type SectionName } from "./entry.js";
export {
  type Library,
  type LibraryLock,
  LOCK_FILE,
  type Memories,
  readLibrary,
  readMemories,
  writeLock,
} from "./library.js";
