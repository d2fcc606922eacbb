/**
 * The few pieces of WebAssembly that are used here, with types.
 *
 * TypeScript declares `WebAssembly` only together with the whole browser; this file names what Node has of it.
 */

/** A compiled module; opaque. */
export interface WasmModule {
  readonly compiledWasm: never;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The memory of an instance. `buffer` is another object after each growth. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  instantiate(module: WasmModule, imports: WasmImports): Promise<WasmInstance>;
  readonly Tag: new (type: { readonly parameters: readonly string[] }) => object;
}

// Node's own types do not declare WebAssembly, and those of the browser would bring all of the DOM along.
const { WebAssembly: api } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };

export function compileWasm(bytes: Uint8Array): Promise<WasmModule> {
  return api.compile(bytes);
}

export function instantiateWasm(module: WasmModule, imports: WasmImports): Promise<WasmInstance> {
  return api.instantiate(module, imports);
}

/** An exception that wasm code may throw and catch, carrying values of these types. */
export function wasmExceptionTag(parameters: readonly string[]): object {
  return new api.Tag({ parameters });
}
