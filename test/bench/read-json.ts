/**
 * Reading JSON: `node test/bench/read-json.ts [RECORDS]` (50,000 without).
 *
 * CPU seconds of reading a file through `openSource`, as one document and as one object per line, over those of the bare
 * minimum in the same run: the whole file in memory and one `JSON.parse`. The best of five rounds counts, since the machine
 * may be busy.
 */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSource } from '#src/sources/open-source.ts';

const rounds = 5;
const recordCount = Number(process.argv[2] ?? 50_000);
const records = Array.from({ length: recordCount }, (_, index) => ({
  externalId: `crm-${index}`,
  name: `Zoë Müller ${index}`,
  company: 'Acme & Söhne GmbH',
  emails: [`a${index}@example.com`, `b${index}@example.com`],
  phones: [{ label: 'work', value: `+4930${1_000_000 + index}` }],
  vip: index % 7 === 0,
  score: index * 1.5,
  note: index % 3 === 0 ? 'said "hello" and left' : null,
}));
const forms = [
  ['document', 'bench.json', JSON.stringify(records)],
  ['indented', 'indented.json', JSON.stringify({ data: records }, null, 1)],
  ['lines', 'bench.ndjson', records.map((record) => JSON.stringify(record)).join('\n')],
] as const;

const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
try {
  for (const [form, name, text] of forms) {
    const path = join(folder, name);
    await writeFile(path, text);
    const bare = await best(() => bareParse(path, form === 'lines'));
    const ours = await best(() => readThrough(path, name));
    const megabytes = ((await stat(path)).size / 1e6).toFixed(1);
    console.log(
      `${form.padEnd(9)} ${megabytes} MB  ${ours.toFixed(2)} s over ${bare.toFixed(2)} s bare: ×${(ours / bare).toFixed(1)}`,
    );
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function readThrough(path: string, name: string): Promise<number> {
  const source = await openSource(path, { name });
  let count = 0;
  for await (const slice of source.slices()) count += slice.filter(({ type }) => type === 'row').length;
  await source.close();
  return count;
}

async function bareParse(path: string, isLines: boolean): Promise<number> {
  const text = await readFile(path, 'utf8');
  if (isLines) return text.split('\n').map((line) => JSON.parse(line)).length;
  const root = JSON.parse(text);
  return (root.data ?? root).length;
}

async function best(work: () => Promise<number>): Promise<number> {
  let seconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    const count = await work();
    const { user, system } = process.cpuUsage(before);
    if (count !== recordCount) throw new Error(`${count} of ${recordCount} records were read`);
    seconds = Math.min(seconds, (user + system) / 1e6);
  }
  return seconds;
}
