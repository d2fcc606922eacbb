/**
 * Benchmarks: `npm run bench -- ROWS` (20,000 without). Each figure is a ratio to a baseline measured in the same run, so that it holds on
 * another machine; `test/bench/README.md` keeps the last results.
 *
 * 1. Memory: peak of an import of ROWS rows over that of 1,000 rows.
 * 2. Speed: rows per second of an import over a bare loop that sends the same look-ups and creates without ledger,
 *    queue or verification.
 * 3. Nothing to do: rows per second of the same file again, over the bare reading of it by the parser.
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'csv-parse';
import { Pool } from 'undici';
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { startService } from '#src/service/start-service.ts';
import { launchFlags } from './launch-flags.ts';

const root = resolve(import.meta.dirname, '../..');
const cli = join(root, 'src/cli/patchbay.mjs');
const key = 'bench-key';

interface Measured {
  readonly seconds: number;
  readonly peakMb: number;
}

const rows = Number(process.argv[2] ?? 20_000);
const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'));
try {
  const small = await exportOf(1_000);
  const large = await exportOf(rows);
  const base = await importInto('small', small);
  const first = await importInto('large', large);
  const again = await importInto('large', large);
  const bareSeconds = await bareLoop(rows);
  const parseSeconds = await bareParse(large);
  console.log(`rows                          ${rows}`);
  console.log(
    `memory, peak                  ${first.peakMb} MB, over ${base.peakMb} MB for 1,000 rows: +${first.peakMb - base.peakMb} MB`,
  );
  console.log(
    `import over bare loop         ${ratio(bareSeconds, first.seconds)} (${perSecond(first.seconds)} rows/s over ${perSecond(bareSeconds)})`,
  );
  console.log(
    `same file again over parsing  ${ratio(parseSeconds, again.seconds)} (${perSecond(again.seconds)} rows/s over ${perSecond(parseSeconds)})`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

function ratio(baselineSeconds: number, seconds: number): string {
  return (baselineSeconds / seconds).toFixed(2);
}

function perSecond(seconds: number): string {
  return Math.round(rows / seconds).toLocaleString('en');
}

function contact(index: number) {
  const phone = `+1415${5_550_000 + (index % 4_000_000)}`;
  return {
    externalId: `b-${index}`,
    firstName: `First${index}`,
    lastName: `Last${index}`,
    company: `Company ${index % 977}`,
    email: `p${index}@example.com`,
    phone,
  };
}

async function exportOf(count: number): Promise<string> {
  const lines = ['externalId,firstName,lastName,company,email work,phone mobile'];
  for (let index = 0; index < count; index += 1) lines.push(Object.values(contact(index)).join(','));
  const file = join(folder, `rows-${count}.csv`);
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

async function withService<Result>(name: string, work: (origin: string) => Promise<Result>): Promise<Result> {
  const service = await startService({
    port: 0,
    apiKeys: [key],
    store: join(folder, `${name}.service.sqlite`),
    seedContacts: 0,
    seedPhoneNumbers: 1,
    patchMode: 'merge',
    requestsPerSecond: null,
    pageNumbers: null,
    faults: [],
    faultSeed: 1,
    control: false,
    clock: systemClock(),
    log: silentLogger(),
  });
  try {
    return await work(service.origin);
  } finally {
    await service.close();
  }
}

/** A whole process, as people run it. Its peak is what the kernel counted (`VmHWM`). */
function importInto(name: string, file: string): Promise<Measured> {
  return withService(name, async (origin) => {
    const env = {
      ...process.env,
      PATCHBAY_BASE_URL: origin,
      PATCHBAY_API_KEY: key,
      PATCHBAY_RATE: '10000',
      PATCHBAY_DATA: join(folder, name),
    };
    const child = spawn(
      process.execPath,
      [...launchFlags, cli, 'import', file, '--json', '--quiet', '--same-workspace'],
      { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let peakKb = 0;
    const watch = setInterval(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    }, 100);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    const code = await new Promise((done) => child.once('exit', done));
    clearInterval(watch);
    if (code !== 0) throw new Error(`import ended with ${code}: ${output}`);
    // The contract's document: `seconds` is the run's own time, without the process's start.
    return { seconds: (JSON.parse(output) as { seconds: number }).seconds, peakMb: Math.round(peakKb / 1024) };
  });
}

/** The least that an upsert of new rows has to send: one look-up for 20 keys, then 20 creates, eight at a time. */
function bareLoop(count: number): Promise<number> {
  return withService('bare', async (origin) => {
    const pool = new Pool(origin, { connections: 16 });
    const headers = { authorization: key, 'content-type': 'application/json' };
    const startedAt = performance.now();
    const chunk = async (start: number): Promise<void> => {
      const people = Array.from({ length: Math.min(20, count - start) }, (_, offset) => contact(start + offset));
      const query = people.map((one) => `externalIds=${one.externalId}`).join('&');
      const found = await pool.request({ method: 'GET', path: `/v1/contacts?${query}&maxResults=50`, headers });
      await found.body.json();
      await Promise.all(
        people.map(async ({ externalId, firstName, lastName, company, email, phone }) => {
          const defaultFields = {
            firstName,
            lastName,
            company,
            emails: [{ name: 'work', value: email }],
            phoneNumbers: [{ name: 'mobile', value: phone }],
          };
          const reply = await pool.request({
            method: 'POST',
            path: '/v1/contacts',
            headers,
            body: JSON.stringify({ externalId, source: 'bench', defaultFields }),
          });
          await reply.body.json();
        }),
      );
    };
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < count) {
        const start = next;
        next += 20;
        await chunk(start);
      }
    };
    await Promise.all([lane(), lane()]);
    await pool.close();
    return (performance.now() - startedAt) / 1_000;
  });
}

async function bareParse(file: string): Promise<number> {
  const startedAt = performance.now();
  let read = 0;
  for await (const record of createReadStream(file).pipe(parse({ columns: true }))) if (record) read += 1;
  if (read !== rows) throw new Error(`read ${read} rows`);
  return (performance.now() - startedAt) / 1_000;
}
