/** `patchbay forget`, as a user types it: a person leaves ledger, reports, archives and fix-files, and does not come back. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

interface Place {
  readonly folder: string;
  readonly data: string;
  file(name: string, text: string | Uint8Array): string;
  call(...args: readonly string[]): ReturnType<typeof callPatchbay>;
  /** Every file of the data folder that holds one of the texts, but for the sandbox's own service. */
  holding(...texts: readonly string[]): readonly string[];
}

function openPlace(): Place {
  const folder = tempFolder();
  const data = join(folder, 'data');
  const all = (path: string): readonly string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? all(join(path, entry.name)) : [join(path, entry.name)],
    );
  return {
    folder,
    data,
    file: (name, text) => {
      writeFileSync(join(folder, name), text);
      return name;
    },
    call: (...args) => callPatchbay(args, {}, folder),
    holding: (...texts) =>
      all(data).filter((path) => {
        if (path.includes('service.sqlite')) return false;
        const bytes = readFileSync(path);
        return texts.some((text) => bytes.includes(text));
      }),
  };
}

const header = 'externalId,firstName,role,phone,email';
const marks = ['forget-me-17', 'zelda.quorn@example.com', '+14155550117'];
const them = 'forget-me-17,Zelda,Clerk,+14155550117,zelda.quorn@example.com';
const others = ['keep-1,Ann,Clerk,+14155550101,ann@example.com', 'keep-2,"Bea\nBo",Clerk,+14155550102,bea@example.com'];
const csv = (...rows: readonly string[]) => [header, ...rows, ''].join('\r\n');

describe('patchbay forget', () => {
  it('erases the row of a person from a fix-file in which a spreadsheet had damaged the key', async () => {
    const place = openPlace();
    const named = 'MARCH1,Zelda,Clerk,call me,zelda.quorn@example.com';
    place.file('a.csv', csv(others[0] ?? '', named));
    expect((await place.call('import', '--sandbox', 'a.csv')).code).toBe(3);
    const [fix = ''] = place.holding('_hint');
    const saved = readFileSync(fix, 'utf8').replace('MARCH1,Zelda', '01. Mrz,Zelda').replace('call me', '+14155550117');
    place.file('fixed.csv', saved);
    expect((await place.call('import', '--sandbox', 'fixed.csv')).code).toBe(0);
    expect(place.holding('01. Mrz')).toHaveLength(1);
    const done = await place.call('--json', 'forget', '--sandbox', 'MARCH1', '--reason', 'they asked for it');
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(place.holding('MARCH1', '01. Mrz', ...marks)).toEqual([]);
  });

  it('erases a person from the report of a retry, and from the reason of an import', async () => {
    const place = openPlace();
    const [address, damaged] = ['ilvara@example.com', 'ilvara(at)example.com'];
    place.file('a.csv', csv(`person-77,Ilvara,Clerk,,${address}`));
    const why = ['--accept', '--reason', `${address} wrote`];
    expect((await place.call('import', '--sandbox', ...why, 'a.csv')).code).toBe(0);
    place.file('b.csv', csv(`person-77,Ilvara,Clerk,,${damaged}`));
    expect((await place.call('import', '--sandbox', 'b.csv')).code).toBe(3);
    expect((await place.call('dead', 'retry', '--sandbox', '--all', '--remap')).code).toBe(3);
    expect(place.holding(damaged).filter((path) => path.endsWith('.json'))).toHaveLength(2);
    const done = await place.call('forget', '--sandbox', '--yes', '--reason', 'request 7', 'person-77');
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(place.holding(address, damaged, 'person-77')).toEqual([]);
  });

  it('erases a person from the bytes of the data folder, and later files with the key are skipped', async () => {
    const place = openPlace();
    const importing = (name: string, ...args: readonly string[]) => place.call('import', '--sandbox', ...args, name);
    place.file('a.csv', csv(others[0] ?? '', them, others[1] ?? ''));
    expect((await importing('a.csv')).code).toBe(0);
    // An update, a row that is rejected, the same person in other formats.
    place.file('b.csv', csv(others[0] ?? '', them.replace('Clerk', 'Chief'), others[1] ?? ''));
    expect((await importing('b.csv')).code).toBe(0);
    place.file(
      'c.csv',
      csv(them.replace('+14155550117', 'call me'), (others[0] ?? '').replace('+14155550101', 'later'), `${them},more`),
    );
    expect((await importing('c.csv')).code).toBe(3);
    place.file('d.csv.gz', gzipSync(csv(them.replace('Clerk', 'Owner'))));
    expect((await importing('d.csv.gz', '--accept')).code).toBe(0);
    place.file(
      'e.ndjson',
      `${JSON.stringify({ externalId: 'forget-me-17', role: 'Boss' })}\n{"externalId":"keep-1","role":"Boss"}\n`,
    );
    expect((await importing('e.ndjson', '--accept')).code).toBe(0);
    expect(place.holding(...marks).length).toBeGreaterThan(5);
    expect((await place.call('--json', 'dead', 'ls', '--sandbox', '--state', 'closed')).stdout).toContain(
      'forget-me-17',
    );

    const refused = await place.call('forget', '--sandbox', 'forget-me-17');
    expect(refused.code).toBe(2);
    const done = await place.call('--json', 'forget', '--sandbox', 'forget-me-17', '--reason', 'they asked for it');
    expect(done.code, done.stdout + done.stderr).toBe(0);
    const document = JSON.parse(done.stdout);
    expect(document).toMatchObject({ scrubbed: 'overwritten', left: { tables: [], files: [] }, exitCode: 0 });
    expect(document.rows).toBeGreaterThan(4);
    expect(document.searched).toBeGreaterThanOrEqual(4);
    // The proof does not rest on the command's own search.
    expect(place.holding(...marks, 'Zelda', document.contact)).toEqual([]);

    // Other people are where they were.
    const archived = (name: string) => {
      const folder = join(place.data, 'sandbox', 'import', '_done');
      const found = readdirSync(folder).find((one) => one.endsWith(`__${name}`));
      return found === undefined ? null : readFileSync(join(folder, found), 'utf8');
    };
    expect(archived('a.csv')).toBe(csv(...others));
    expect(archived('e.ndjson')).toBe('{"externalId":"keep-1","role":"Boss"}\n');
    // It cannot be cut: the whole file is gone.
    expect(archived('d.csv.gz')).toBeNull();
    const letters = await place.call('--json', 'dead', 'ls', '--sandbox', '--state', 'closed');
    expect(letters.stdout).toContain('"key":"keep-1"');
    expect(letters.stdout).not.toContain('forget-me-17');

    // Who is in a later file is skipped, valid or not, and leaves no trace in the ledger.
    place.file('f.csv', csv(them, others[1] ?? ''));
    const later = await place.call('--json', 'import', '--sandbox', 'f.csv');
    expect(JSON.parse(later.stdout), later.stdout).toMatchObject({ rows: 2, unchanged: 1, skipped: 1, dead: 0 });
    place.file('g.csv', csv(them.replace('+14155550117', 'call me')));
    expect(JSON.parse((await place.call('--json', 'import', '--sandbox', 'g.csv')).stdout)).toMatchObject({
      skipped: 1,
      dead: 0,
    });
    place.file('h.csv.gz', gzipSync(csv(them, others[1] ?? '')));
    expect((await place.call('import', '--sandbox', 'h.csv.gz')).code).toBe(0);
    // Their archives do not have the rows either; what cannot be cut is not archived.
    expect(place.holding(...marks)).toEqual([]);
    expect(archived('f.csv')).toBe(csv(others[1] ?? ''));
    expect(archived('g.csv')).toBe(csv());
    expect(archived('h.csv.gz')).toBeNull();

    // Nor do rows that cannot be read, and files that cannot be read at all.
    place.file('i.csv', csv(`${them},more`, others[1] ?? ''));
    expect(JSON.parse((await place.call('--json', 'import', '--sandbox', 'i.csv')).stdout)).toMatchObject({
      ...{ unchanged: 1, skipped: 1, dead: 0 },
    });
    place.file('j.csv', csv(them, others[1] ?? '').replace('externalId', 'number'));
    expect(JSON.parse((await place.call('--json', 'import', '--sandbox', 'j.csv')).stdout)).toMatchObject({
      state: 'failed',
    });
    expect(place.holding(...marks)).toEqual([]);

    // It may be done again.
    const again = await place.call('forget', '--sandbox', 'forget-me-17', '--reason', 'once more', '--yes');
    expect(again.code, again.stdout).toBe(0);
    expect(place.holding('forget-me-17')).toEqual([]);
    const acts = await place.call('--json', 'logs', '--acts', '--sandbox');
    expect(acts.stdout).toContain('"kind":"forget"');
    expect(acts.stdout).not.toContain('forget-me-17');
  });

  it('names the files that wait to be read with the person, and what to do; read, they are kept without them', async () => {
    const place = openPlace();
    place.file('a.csv', csv('k1,Zelda,Clerk,,', others[0] ?? ''));
    expect((await place.call('import', '--sandbox', 'a.csv')).code).toBe(0);
    // Its last quote does not close: the file fails as a whole.
    place.file('b.csv', csv('k1,Zelda,Chief,,', 'k2,"Bea,Clerk,,'));
    expect((await place.call('import', '--sandbox', 'b.csv')).code).toBe(3);
    const waiting = join(place.data, 'sandbox', 'import', 'c.csv');
    writeFileSync(waiting, csv('k1,Zelda,Boss,,'));
    const done = await place.call('forget', '--sandbox', 'k1', '--reason', 'they asked');
    expect(done.code, done.stderr).toBe(3);
    expect(done.stdout).toContain(`not read yet: ${waiting} names the person\n`);
    expect(done.stdout).toContain('patchbay start --sandbox; or delete it');
    expect(place.holding('Zelda')).toEqual([waiting]);
    expect((await place.call('import', '--sandbox', waiting)).code).toBe(0);
    rmSync(waiting);
    expect((await place.call('forget', '--sandbox', 'k1', '--reason', 'they asked')).code).toBe(0);
    expect(place.holding('Zelda')).toEqual([]);
  });

  it('takes the rows of the person out of a stopped run, which goes on without them', async () => {
    const place = openPlace();
    mkdirSync(place.data, { recursive: true });
    place.file('patchbay.yaml', 'guards: { updatesFloor: 1 }\n');
    place.file('a.csv', csv(them, others[0] ?? ''));
    expect((await place.call('import', '--sandbox', 'a.csv')).code).toBe(0);
    place.file('b.csv', csv(them, others[0] ?? '').replaceAll('Clerk', 'Chief'));
    const stopped = await place.call('--json', 'import', '--sandbox', 'b.csv');
    expect(stopped.code).toBe(5);
    const { run } = JSON.parse(stopped.stdout);
    const done = await place.call('forget', '--sandbox', 'forget-me-17', '--reason', 'r', '--yes');
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(place.holding(...marks)).toEqual([]);
    const approved = await place.call('--json', 'runs', 'approve', '--sandbox', run, '--reason', 'r', '--yes');
    expect(JSON.parse(approved.stdout)).toMatchObject({ state: 'done', rows: 2, updated: 1, skipped: 1 });
    expect(place.holding(...marks)).toEqual([]);
  });
});
