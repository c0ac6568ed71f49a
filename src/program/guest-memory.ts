import { newQuickJSWASMModule, newVariant, type QuickJSWASMModule, RELEASE_SYNC } from "quickjs-emscripten";

/** A fresh interpreter: a WebAssembly instance with memory of its own, which is the cap that holds. */
export class GuestMemory {
  readonly module: QuickJSWASMModule;
  readonly limit_MB: number;
  #refused = false;

  private constructor(module: QuickJSWASMModule, limit_MB: number) {
    this.module = module;
    this.limit_MB = limit_MB;
  }

  /** True once the interpreter asked for more than the limit. */
  get refused(): boolean {
    return this.#refused;
  }

  static async create(limit_MB: number, wasmModule: WebAssembly.Module): Promise<GuestMemory> {
    const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: limit_MB * 16 });
    const grow = wasmMemory.grow.bind(wasmMemory);
    const holder: { memory?: GuestMemory } = {};
    wasmMemory.grow = (pages: number): number => {
      try {
        return grow(pages);
      } catch (error) {
        if (holder.memory !== undefined) holder.memory.#refused = true;
        throw error;
      }
    };
    const module = await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory, wasmModule }));
    holder.memory = new GuestMemory(module, limit_MB);
    return holder.memory;
  }
}
