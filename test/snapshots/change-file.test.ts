/** The file of changes is kept within a size (`docs/operations.md`, "How long data is kept"). */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isoInstant } from '#src/clock.ts';
import { workspaceSeries } from '#src/ledger/snapshots.ts';
import { trimChangeFile } from '#src/snapshots/change-file.ts';

it('a file of changes that is too large loses the older half, however young its lines are; any other stays', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-changes-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const nowMs = 1_800_000_000_000;
  const lines = Array.from(
    { length: 10 },
    (_, index) => `{"takenAt":"${isoInstant(nowMs + index)}","event":1,"events":1,"number":${index}}\n`,
  );
  const path = join(folder, 'changes.ndjson');
  const bytes = lines.join('').length;
  const trimmed = async (bytesMax: number) => {
    await writeFile(path, lines.join(''));
    await trimChangeFile(folder, workspaceSeries, nowMs + 10, 86_400_000, bytesMax);
    return readFile(path, 'utf8');
  };
  expect(await trimmed(bytes)).toBe(lines.join(''));
  expect(await trimmed(bytes - 1)).toBe(lines.slice(6).join(''));
});
