/** The heap has more room while batches are written, and as little as the launcher says while a file is read. */
import { describe, expect, it } from 'vitest';
import { createHeapRoom } from '#src/engine/heap-room.ts';

const launcher = ['--max-semi-space-size=8', '--heap-growing-percent=30'];
const [small, large] = ['--heap-growing-percent=30', '--heap-growing-percent=100'];

function roomOf(launchedWith: readonly string[]) {
  const flags: string[] = [];
  return { flags, room: createHeapRoom(launchedWith, (flag) => flags.push(flag)) };
}

describe('the room of the heap', () => {
  it('is larger from the first batch at work to the end of the last', () => {
    const { flags, room } = roomOf(launcher);
    room.begins('upsert-batch');
    room.begins('upsert-batch');
    room.ends('upsert-batch');
    expect(flags).toEqual([large]);
    room.ends('upsert-batch');
    expect(flags).toEqual([large, small]);
  });

  it('is the small one while a file is read, whatever else is at work', () => {
    const { flags, room } = roomOf(launcher);
    room.begins('import-file');
    room.begins('upsert-batch');
    expect(flags).toEqual([]);
    room.ends('import-file');
    expect(flags).toEqual([large]);
    room.begins('import-file');
    expect(flags).toEqual([large, small]);
  });

  it('is the same whatever other jobs are at work', () => {
    const { flags, room } = roomOf(launcher);
    room.begins('audit');
    room.ends('audit');
    expect(flags).toEqual([]);
  });

  it('is left alone in a process that was started without the flag', () => {
    const { flags, room } = roomOf(['--max-semi-space-size=8']);
    room.begins('upsert-batch');
    room.ends('upsert-batch');
    expect(flags).toEqual([]);
  });
});
