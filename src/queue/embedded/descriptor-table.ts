/**
 * The descriptors of the server inside the wasm, and the host functions that it calls with them.
 *
 * A *listener* is a descriptor on which the server accepts. All listeners share one line of waiting connections, since Node
 * does the real listening. Invariant: closed descriptors are reused before new ones are made, because the server's table
 * ends at about 10,100 and descriptors begin at 4,096.
 */
import { type Endpoint, wouldBlock } from './endpoint.ts';

/** The lowest descriptor; lower ones are the files of WASI. Fixed in the wasm. */
const firstDescriptor = 4_096;
/** Connections at a time. The server can hold 6,030; the rest is for its listeners and internal commands. */
export const connectionsMax = 6_000;
/** Bits of a poll mask, fixed in the wasm. */
const readableBit = 1;
const writableBit = 2;
/** A poll entry is two 32-bit numbers: descriptor and mask. */
const pollEntryBytes = 8;

export interface DescriptorTable {
  /** The functions the wasm imports from its module `host`. */
  readonly hostFunctions: Record<string, (...args: number[]) => number | undefined>;
  /** Offers a new connection to the server. @returns false, without effect, if there are `connectionsMax`. */
  offer(endpoint: Endpoint): boolean;
  /** Like `offer`, without the limit: for internal commands, one at a time. */
  offerAlways(endpoint: Endpoint): void;
}

/** `memory` is called each time: the buffer is replaced when the memory grows. */
export function createDescriptorTable(memory: () => ArrayBuffer): DescriptorTable {
  const endpoints = new Map<number, Endpoint>();
  const listeners = new Set<number>();
  const waiting: Endpoint[] = [];
  const freed: number[] = [];
  let next = firstDescriptor;
  let bytes = new Uint8Array(0);
  let words = new DataView(new ArrayBuffer(0));

  const allocate = () => freed.pop() ?? next++;
  const refresh = () => {
    const buffer = memory();
    if (bytes.buffer === buffer) return;
    bytes = new Uint8Array(buffer);
    words = new DataView(buffer);
  };
  const readyMask = (descriptor: number, wanted: number): number => {
    if (listeners.has(descriptor)) return waiting.length > 0 ? wanted & readableBit : 0;
    const endpoint = endpoints.get(descriptor);
    if (endpoint === undefined) return 0;
    const readable = (wanted & readableBit) !== 0 && endpoint.readable() ? readableBit : 0;
    const writable = (wanted & writableBit) !== 0 && endpoint.writable() ? writableBit : 0;
    return readable | writable;
  };

  return {
    hostFunctions: {
      socket: () => allocate(),
      listen(descriptor = 0) {
        listeners.add(descriptor);
        return 0;
      },
      accept() {
        const endpoint = waiting.shift();
        if (endpoint === undefined) return wouldBlock;
        const descriptor = allocate();
        endpoints.set(descriptor, endpoint);
        return descriptor;
      },
      read(descriptor = 0, pointer = 0, length = 0) {
        refresh();
        return endpoints.get(descriptor)?.read(bytes.subarray(pointer, pointer + length)) ?? wouldBlock;
      },
      write(descriptor = 0, pointer = 0, length = 0) {
        refresh();
        return endpoints.get(descriptor)?.write(bytes.subarray(pointer, pointer + length)) ?? wouldBlock;
      },
      close(descriptor = 0) {
        const endpoint = endpoints.get(descriptor);
        endpoints.delete(descriptor);
        endpoint?.close();
        if (listeners.delete(descriptor) || endpoint !== undefined) freed.push(descriptor);
        return undefined;
      },
      poll(interests = 0, count = 0, fired = 0, firedMax = 0) {
        refresh();
        let firedCount = 0;
        for (let at = interests; at < interests + count * pollEntryBytes; at += pollEntryBytes) {
          if (firedCount === firedMax) break;
          const descriptor = words.getInt32(at, true);
          const ready = readyMask(descriptor, words.getInt32(at + 4, true));
          if (ready === 0) continue;
          words.setInt32(fired + firedCount * pollEntryBytes, descriptor, true);
          words.setInt32(fired + firedCount * pollEntryBytes + 4, ready, true);
          firedCount++;
        }
        return firedCount;
      },
    },
    offer(endpoint) {
      if (endpoints.size + waiting.length >= connectionsMax) return false;
      waiting.push(endpoint);
      return true;
    },
    offerAlways(endpoint) {
      waiting.push(endpoint);
    },
  };
}
