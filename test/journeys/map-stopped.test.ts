/** What `patchbay map` names as the next command for a file whose first import would stop. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

function openPlace() {
  const folder = tempFolder();
  const call = (...args: readonly string[]) => callPatchbay(args, {}, folder);
  return { call, write: (name: string, text: string) => writeFileSync(join(folder, name), text) };
}

const nextOf = (stdout: string): string | null => /\nnext: patchbay (.*)\n$/.exec(stdout)?.[1] ?? null;

describe('a file whose first import would stop', () => {
  it('is given a mapping where the generic layout leaves contact data over, and goes in then', async () => {
    const { call, write } = openPlace();
    write('a.csv', 'externalId,firstName,Telefon Empfang\n1,Ada,+14155550109\n2,Bob,+14155550108\n');
    const looked = await call('map', 'a.csv', '--feed', 'crm');
    expect(looked.stdout, looked.stderr).toContain('the first import stops before it writes');
    expect(nextOf(looked.stdout)).toBe('map --feed crm --save a.csv');
    const saved = await call(...(nextOf(looked.stdout) ?? '').split(' '));
    expect(nextOf(saved.stdout), saved.stderr).toBe('import --sandbox --feed crm a.csv');
    const done = await call('--json', ...(nextOf(saved.stdout) ?? '').split(' '));
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ state: 'done', created: 2 });
  });

  it('is not imported before the mapping that reads it is edited', async () => {
    const { call, write } = openPlace();
    write('a.csv', 'Nr,Vorname,Telefon Empfang\n1,Ada,+14155550109\n2,Bob,+14155550108\n');
    write('own.yaml', 'name: own\nkey: Nr\nfields: { firstName: Vorname }\n');
    const looked = await call('map', 'a.csv', '--mapping', 'own.yaml');
    expect(looked.stdout, looked.stderr).toContain('add what you need to the mapping');
    expect(nextOf(looked.stdout)).toBeNull();
    expect(JSON.parse((await call('--json', 'map', 'a.csv', '--mapping', 'own.yaml')).stdout).next).toBeNull();
  });

  it('is read by a copy of the preset that it is recognised by, to be edited', async () => {
    const { call, write } = openPlace();
    const header = 'First Name,Last Name,URL,Email Address,Company,Position,Connected On,Telefon Empfang';
    write(
      'Connections.csv',
      `${header}\nAda,Eins,https://www.linkedin.com/in/a,a@example.com,A,B,05 Mar 2024,+14155550109\n`,
    );
    const looked = await call('map', 'Connections.csv', '--feed', 'li');
    expect(looked.stdout, looked.stderr).toContain('preset linkedin');
    expect(looked.stdout).toContain('the first import stops before it writes');
    expect(nextOf(looked.stdout)).toBe('map --feed li --save Connections.csv');
    const saved = await call('map', '--feed', 'li', '--save', 'Connections.csv');
    expect(saved.stdout, saved.stderr).toContain('saved: data/import/li/_mapping.yaml');
    expect(nextOf(saved.stdout)).toBeNull();
  });

  it('is imported where the feed has let its columns pass', async () => {
    const { call, write } = openPlace();
    write('a.csv', 'externalId,firstName,Telefon Empfang\n1,Ada,+14155550109\n2,Bob,+14155550108\n');
    const first = await call('import', '--sandbox', '--feed', 'crm', '--accept', '--reason', 'known', 'a.csv');
    expect(first.code, first.output).toBe(0);
    write('a.csv', 'externalId,firstName,Telefon Empfang\n1,Ada,+14155550109\n2,Bob,+14155550107\n3,Cleo,\n');
    const looked = await call('map', 'a.csv', '--feed', 'crm');
    expect(nextOf(looked.stdout), looked.stderr).toBe('import --sandbox --feed crm a.csv');
    const done = await call('--json', ...(nextOf(looked.stdout) ?? '').split(' '));
    expect(JSON.parse(done.stdout), done.stderr).toMatchObject({ state: 'done', created: 1 });
    const other = await call('map', 'a.csv', '--feed', 'erp');
    expect(nextOf(other.stdout), other.output).toBe('map --feed erp --save a.csv');
  });
});
