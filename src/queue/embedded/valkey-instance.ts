/**
 * The server itself: the wasm with its memory, its files and its descriptors, stepped by the caller.
 *
 * The wasm is a reactor: it is booted once and then does one turn of its event loop for each `step`. Invariant: after
 * a `step` has thrown, the memory can't be trusted and nothing may be called, or saved, any more.
 */
import { WASI } from 'node:wasi';
import { PatchbayError } from '#src/errors.ts';
import { createDescriptorTable, type DescriptorTable } from './descriptor-table.ts';

export interface ValkeyInstance {
  readonly descriptors: DescriptorTable;
  /** One turn of the event loop. The count of events it handled. Throws what ended the server. */
  step(): number;
}

export interface ValkeyInstanceOptions {
  readonly module: WasmModule;
  /** The folder that is the server's whole file system; `dump.rdb` in it is loaded. */
  readonly folder: string;
  /** An open file for what the server prints. */
  readonly logDescriptor: number;
}

interface ValkeyExports {
  readonly memory: WasmMemory;
  readonly rk_boot: (port: number) => number;
  readonly rk_step: () => number;
}

/** The server listens on a port that nobody dials; Node does the real listening. */
const dummyPort = 6_379;

/** Boots a server. Throws when it exits or traps while it boots: a damaged `dump.rdb` does that. */
export async function bootValkeyInstance(options: ValkeyInstanceOptions): Promise<ValkeyInstance> {
  const { module, folder, logDescriptor } = options;
  const wasi = new WASI({
    version: 'preview1',
    args: ['valkey-server'],
    env: {},
    preopens: { '/': folder },
    stdout: logDescriptor,
    stderr: logDescriptor,
  });
  // The host functions need the memory, and the memory comes with the instance that needs the host functions.
  let memory: WasmMemory | null = null;
  const descriptors = createDescriptorTable(() => memory?.buffer ?? new ArrayBuffer(0));
  const instance = await instantiateWasm(module, {
    wasi_snapshot_preview1: { ...(wasi.wasiImport as Record<string, unknown>), proc_exit: refuseExit },
    host: descriptors.hostFunctions,
    // Lua's errors unwind by an exception that the host must provide; it carries one pointer.
    env: { __c_longjmp: wasmExceptionTag(['i32']) },
  });
  // The export list of the wasm, as its compiled form declares it: no type can be derived from bytes.
  const exports = instance.exports as unknown as ValkeyExports;
  memory = exports.memory;
  wasi.initialize(instance);
  exports.rk_boot(dummyPort);
  return { descriptors, step: () => exports.rk_step() };
}

/** An exit of the server must end its instance, not the process. */
function refuseExit(code: number): never {
  throw new PatchbayError('unreachable', 'embeddedQueueExit', `the embedded queue ended by itself with code ${code}`, {
    facts: { code },
  });
}

// The few pieces of WebAssembly that are used here, with types.
//
// TypeScript declares `WebAssembly` only together with the whole browser; this file names what Node has of it.

/** A compiled module; opaque. */
interface WasmModule {
  readonly compiledWasm: never;
}

interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The memory of an instance. `buffer` is another object after each growth. */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

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

function instantiateWasm(module: WasmModule, imports: WasmImports): Promise<WasmInstance> {
  return api.instantiate(module, imports);
}

/** An exception that wasm code may throw and catch, carrying values of these types. */
function wasmExceptionTag(parameters: readonly string[]): object {
  return new api.Tag({ parameters });
}
