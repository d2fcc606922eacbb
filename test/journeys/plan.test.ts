/** `patchbay plan` and `import --plan`, as a person or a script types them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

const header = 'externalId,firstName,role\n';

describe.concurrent('a plan', () => {
  test('is made, carried out by its id, and tells what changed meanwhile', async ({ journey }) => {
    const service = await journey.service();
    const before = journey.file('before.csv', `${header}c-1,Ann,Lead\nc-2,Bob,Buyer\n`);
    const after = journey.file('after.csv', `${header}c-1,Ann,Chief\nc-2,Bob,Seller\nc-3,Cyn,New\n`);
    expect((await journey.run(['import', before])).code).toBe(0);

    const page = join(journey.data, 'plan.html');
    const planned = await journey.run(['plan', after, '--json', '--exit-code', '--output', page]);
    expect(planned.code, planned.stderr).toBe(10);
    const [document] = planned.documents;
    expect(document).toMatchObject({ created: 1, updated: 2, changed: 2, stop: null, requests: { post: 1, patch: 2 } });
    expect(document.contacts.map((one: { key: string; do: string }) => [one.key, one.do])).toEqual([
      ['c-1', 'update'],
      ['c-2', 'update'],
      ['c-3', 'create'],
    ]);
    expect(readFileSync(page, 'utf8')).toContain('2 contacts to update');
    expect(await service.keys()).toHaveLength(2);

    await service.edit('c-2', { role: 'Edited' });
    const carried = await journey.run(['import', '--plan', document.plan.slice(-6), '--json']);
    expect(carried.code, carried.stderr).toBe(5);
    expect(carried.documents).toMatchObject([
      { state: 'done', created: 1, updated: 1, skipped: 1, moved: 1, exitCode: 5 },
    ]);
    const again = await journey.call(['plan', after, '--exit-code']);
    expect(again.code, again.stdout).toBe(0);
    expect(again.stdout).toContain('the file says Seller, the app Edited');
  });

  test('of an undo is shown; the undo takes back what a run wrote, and the same file does not do it again', async ({
    journey,
  }) => {
    const service = await journey.service();
    const before = journey.file('before.csv', `${header}c-1,Ann,Lead\nc-2,Bob,Buyer\n`);
    const after = journey.file('after.csv', `${header}c-1,Ann,Chief\nc-2,Bob,Seller\nc-3,Cyn,New\n`);
    await journey.call(['import', before]);
    const [imported] = (await journey.call(['import', after, '--json'])).documents;
    await service.edit('c-2', { role: 'Edited' });

    const shown = await journey.run(['runs', 'undo', imported.run, '--plan', '--delete-created', '--json']);
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.documents).toMatchObject([
      { undoes: imported.run, updated: 2, deleted: 1, heldFields: 1, unchanged: 1 },
    ]);
    const undone = await journey.run(['runs', 'undo', imported.run.slice(-6), '--delete-created']);
    expect(undone.code, undone.stderr).toBe(0);
    expect(undone.stdout).toContain('2 updated (1 deleted), 1 unchanged');
    expect(undone.stdout).toContain('role of c-2: Edited now, Buyer before the run');
    expect(await service.keys()).toEqual(['c-1', 'c-2']);
    expect([...(await service.people()).values()].map(({ role }) => role).sort()).toEqual(['Edited', 'Lead']);

    const night = await journey.call(['import', after, '--json']);
    expect(night.documents).toMatchObject([{ unchanged: 3, requests: { post: 0, patch: 0 } }]);
    const refused = await journey.call(['runs', 'undo', night.documents[0].run]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('[nothingToUndo]')]);
  });

  test('of some rows alone is carried out for these alone, and takes no other choice then', async ({ journey }) => {
    const service = await journey.service();
    await journey.call(['import', journey.file('before.csv', `${header}c-1,Ann,Lead\nc-2,Bob,Buyer\n`)]);
    await service.edit('c-2', { role: 'Edited' });
    const after = journey.file('after.csv', `${header}c-1,Ann,Chief\nc-2,Bob,Buyer\nc-3,Cyn,New\n`);
    const plan = async (...mode: string[]) => (await journey.call(['plan', after, '--json', ...mode])).documents[0];
    expect(await plan('--create-only')).toMatchObject({ created: 1, updated: 0, skipped: 1 });
    expect(await plan('--repair')).toMatchObject({ created: 1, updated: 2 });
    const { plan: id, ...counts } = await plan('--update-only');
    expect(counts).toMatchObject({ created: 0, updated: 1, unchanged: 1, skipped: 1 });
    for (const other of ['--create-only', '--repair', '--only=c-1', '--limit=1', '--feed=crm']) {
      const refused = await journey.call(['import', '--plan', id, other, '--json']);
      expect(refused.documents, other).toMatchObject([{ error: { code: 'planOptions' }, exitCode: 2 }]);
    }
    const carried = await journey.call(['import', '--plan', id, '--json']);
    expect(carried.documents, carried.stderr).toMatchObject([{ created: 0, updated: 1, skipped: 1, moved: 0 }]);
    expect(await service.keys()).toEqual(['c-1', 'c-2']);
    const ofRun = await journey.call(['plan', '--run', carried.documents[0].run, '--update-only', '--json']);
    expect(ofRun.documents).toMatchObject([{ error: { code: 'planRunOptions' }, exitCode: 2 }]);
  });

  test('with --verify tells what people changed, ends with 10, and reads the named contact alone', async ({
    journey,
  }) => {
    const service = await journey.service();
    const before = journey.file('before.csv', `${header}c-1,Ann,Lead\nc-2,Bob,Buyer\n`);
    await journey.call(['import', before]);
    expect((await journey.call(['plan', before, '--verify'])).code).toBe(0);
    await service.edit('c-2', { role: 'Edited' });
    const shown = await journey.call(['plan', before, '--verify']);
    expect(shown.code, shown.stderr).toBe(10);
    expect(shown.stdout).toContain('~ role: Buyer → Edited');
    const one = await journey.call(['plan', before, '--verify', '--only', 'c-1', '--json']);
    expect(one.documents).toMatchObject([{ plan: null, drift: { looked: 1, changed: 0 }, exitCode: 0 }]);
    const both = await journey.call(['plan', before, '--verify', '--repair']);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--repair')]);
    expect((await service.people()).get('c-2')).toMatchObject({ role: 'Edited' });
  });

  test('of a stopped run is in the story of the run, and is what an approval carries out', async ({ journey }) => {
    const service = await journey.service();
    await journey.call(['import', journey.file('before.csv', peopleCsv(30))]);
    const cleared = journey.file('after.csv', peopleCsv(30).replaceAll(/^(p-\d+),[^,]+/gm, '$1,Other'));
    const [stopped] = (await journey.call(['import', cleared, '--json'])).documents;
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 5 });
    await service.setFaults(['*:status=503']);
    const away = await journey.run(['runs', 'show', stopped.run, '--json']);
    expect(away.code).toBe(0);
    expect(away.stderr).toContain('its plan could not be made now');
    expect(away.documents).toMatchObject([{ state: 'stopped', plan: null }]);
    await service.setFaults([]);
    const story = await journey.run(['runs', 'show', stopped.run]);
    expect(story.stdout).toContain('30 contacts to update');
    expect(story.stdout).toContain(`all of it: patchbay plan --run ${stopped.run} --full`);
    const [told] = (await journey.call(['runs', 'show', stopped.run, '--json'])).documents;
    expect(told.plan).toMatchObject({ run: stopped.run, updated: 30, contactsComplete: true });

    const [key] = await service.keys();
    await service.edit(key ?? '', { firstName: 'Edited' });
    const approved = await journey.run(['runs', 'approve', stopped.run, '--json']);
    expect(approved.documents, approved.stderr).toMatchObject([{ updated: 29, moved: 1, exitCode: 5 }]);
    expect((await journey.call(['runs', 'show', stopped.run, '--json'])).documents).toMatchObject([{ plan: null }]);
  });

  test('that stops is carried out only when it is accepted, also by limits that would let the run pass', async ({
    journey,
  }) => {
    await journey.service();
    const people = (others: number): string =>
      peopleCsv(30).replaceAll(/^(p-(\d+)),[^,]+/gm, (row, key, at) => (Number(at) <= others ? `${key},Other` : row));
    await journey.call(['import', journey.file('before.csv', people(0))]);
    const after = journey.file('after.csv', people(6));
    const tight = { PATCHBAY_GUARDS_UPDATES_MAX: '5%' };
    const [{ plan, stop }] = (await journey.call(['plan', after, '--json'], tight)).documents;
    expect(stop).toMatchObject({ code: 'guardUpdates' });

    const [stopped] = (await journey.call(['import', '--plan', plan, '--json'])).documents;
    expect(stopped).toMatchObject({ state: 'stopped', updated: 0, exitCode: 5, error: { code: 'guardUpdates' } });
    expect(stopped.error.message).toContain(`as its plan ${plan} says: the file changes 6 of its 30 known contacts`);
    expect(stopped.error.hint).toContain(`patchbay import --plan ${plan} --accept`);
    const raised = ['import', '--plan', plan, '--max-change', '10%', '--json'];
    expect((await journey.call(raised)).documents).toMatchObject([{ state: 'stopped', updated: 0 }]);

    const [again] = (await journey.call(['plan', after, '--json'], tight)).documents;
    const accepted = await journey.call(['import', '--plan', again.plan, '--accept', '--json']);
    expect(accepted.documents, accepted.stderr).toMatchObject([{ state: 'done', updated: 6, moved: 0, exitCode: 0 }]);
  });

  test('is made beside a running engine, through its queue, and in the sandbox of that engine', async ({ journey }) => {
    const engine = journey.start(['start']);
    await until('the engine is up', () => engine.stdout.includes('page'));
    const planned = await journey.run(['plan', '--sandbox', '--json', journey.file('a.csv', peopleCsv(40))]);
    expect(planned.code, planned.stderr).toBe(0);
    expect(planned.documents).toMatchObject([{ created: 40, requests: { post: 40 } }]);
    engine.signal('SIGTERM');
    await engine.ended();
  });

  test('of a file that cannot be read, or that is not named, says so', async ({ journey }) => {
    const bad = await journey.call(['plan', '--sandbox', journey.file('bad.csv', 'name\nAnn\n')]);
    expect(bad.code).toBe(3);
    expect(bad.stderr).toContain('[keyColumnMissing]');
    for (const words of [
      ['plan'],
      ['import'],
      ['plan', 'a.csv', '--run', 'r1'],
      ['import', '--plan', 'x1x1x1', '--adopt'],
    ]) {
      const refused = await journey.call(words);
      expect([refused.code, refused.stderr], words.join(' ')).toEqual([2, expect.stringMatching(/^patchbay: /)]);
    }
  });

  test('of more than ten thousand contacts is whole on stdout and in a file, and leaves nothing else', async ({
    journey,
  }) => {
    const count = 10_050;
    const rows = Array.from({ length: count }, (_, index) => `k${index},Ann,Lead`);
    const file = journey.file('all.csv', `${header}${rows.join('\n')}\n`);
    const [markdown = '', page = ''] = ['md', 'html'].map((ending) => join(journey.data, `plan.${ending}`));
    const whole = await journey.run(['plan', file, '--sandbox', '--json', '--output', markdown]);
    expect(whole.code, whole.stderr).toBe(0);
    const [document] = whole.documents;
    expect([document.contacts.length, document.contactsComplete, document.created]).toEqual([count, true, count]);
    expect(readFileSync(markdown, 'utf8').match(/^\| k\d+, Ann /gm)).toHaveLength(count);
    expect(journey.names('sandbox/drafts')).toEqual([]);

    const interrupted = journey.start(['plan', file, '--sandbox', '--full', '--output', page]);
    await until('a draft on disk', () => journey.names('sandbox/drafts').length > 0);
    interrupted.signal('SIGINT');
    expect((await interrupted.ended()).code).toBe(130);
    expect(journey.names('sandbox/drafts')).toEqual([]);
    expect(journey.names('').filter((name) => /\.(?:html|part)$/.test(name))).toEqual([]);
  });
});
