/** `patchbay map` of files and mappings with custom fields, as a user types it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

function openPlace() {
  const folder = tempFolder();
  return {
    file: (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return name;
    },
    call: (...args: readonly string[]) => callPatchbay(args, {}, folder),
  };
}

const note =
  'note: custom fields are not checked here: an import checks them against the workspace, and so does patchbay plan FILE\n';

describe('map says once that custom fields are not checked', () => {
  it.each([
    ['a.csv', 'externalId,firstName,custom.seats,custom.nope\n1,Ada,5,6\n'],
    ['a.json', '[{"externalId":"1","firstName":"Ada","custom":{"seats":5}}]'],
    ['b.json', '[{"externalId":"1","defaultFields":{"firstName":"Ada"},"customFields":[{"key":"seats","value":5}]}]'],
  ])('of a file that has some: %s %s', async (name, text) => {
    const place = openPlace();
    const { stdout } = await place.call('map', place.file(name, text));
    expect(stdout).toContain('the row can be imported\n');
    expect(stdout.split(note)).toHaveLength(2);
  });

  it('of a mapping that has some', async () => {
    const place = openPlace();
    place.file(
      'k.yaml',
      'name: k\nkey: Id\nfields: { firstName: Name }\ncustomFields: [{ column: Level, key: tier }]\n',
    );
    const file = place.file('k.csv', 'Id,Name,Level\n1,Ann,\n');
    expect((await place.call('map', '--mapping', 'k.yaml', file)).stdout).toContain(note);
  });

  it('of no other file', async () => {
    const place = openPlace();
    const { stdout } = await place.call('map', place.file('a.csv', 'externalId,firstName\n1,Ada\n'));
    expect(stdout).not.toContain('custom fields');
  });
});
