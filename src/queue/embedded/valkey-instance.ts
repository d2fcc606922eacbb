/**
 * The server: the wasm with its memory, files and descriptors, stepped by the caller.
 *
 * The wasm is a reactor: it is booted once, and each `step` is one turn of its event loop. Invariant: after a `step` has
 * thrown, the memory is unreliable, and nothing may be called or saved any more.
 */
import { WASI } from 'node:wasi';
import { PatchbayError } from '#src/errors.ts';
import { createDescriptorTable, type DescriptorTable } from './descriptor-table.ts';

export interface ValkeyInstance {
  readonly descriptors: DescriptorTable;
  /** One turn of the event loop. @returns the count of handled events. Throws the error that ended the server. */
  step(): number;
}

export interface ValkeyInstanceOptions {
  readonly module: WasmModule;
  /** The server's whole file system; `dump.rdb` in it is loaded. */
  readonly folder: string;
  /** An open file for the server's output. */
  readonly logDescriptor: number;
}

interface ValkeyExports {
  readonly memory: WasmMemory;
  readonly rk_boot: (port: number) => number;
  readonly rk_step: () => number;
}

/** Unused: Node does the real listening. */
const dummyPort = 6_379;

/** Throws if the server exits or traps while it boots, as it does with a damaged `dump.rdb`. */
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
    // Lua's errors use an exception that the host must provide; it carries one pointer.
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
  throw new PatchbayError('unreachable', 'embeddedQueueExit', `the embedded queue exited with code ${code}`, {
    facts: { code },
  });
}

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

// Node's types do not declare `WebAssembly`, and those of the browser would include the DOM: the parts used are declared here.
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
