/** The whole story of a run: what it changed, from the journal or from the report (`docs/contract.md`, "Commands"). */
import { describe, expect, it } from 'vitest';
import { createOutput } from '#src/cli/output.ts';
import { changeLines, changesHeading } from '#src/cli/present-story.ts';
import type { ContactChange } from '#src/journal/changes.ts';
import { jsonPieces } from '#src/json/json-pieces.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { changesOfRun, readRunPageDocument, readStory, storyDocument } from '#src/operations/run-story.ts';
import type { RunHome } from '#src/operations/runs.ts';
import { csv, fillers, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,role,phone';

function homeOf({ parts }: RunsBench): RunHome {
  return { ledger: parts.ledger, clock: parts.clock, serviceName: parts.serviceName, runFolders: parts.folders };
}

async function changesOf(bench: RunsBench, run: RunRecord, limit?: number): Promise<readonly ContactChange[]> {
  const home = homeOf(bench);
  const all: ContactChange[] = [];
  for await (const page of changesOfRun(home, await readStory(home, run, { values: true }), limit)) all.push(...page);
  return all;
}

describe('the story of a run', () => {
  it('tells each contact that was changed, before and after, and by what the run came to be', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,+14155550101', 'c-2,Bo,Chef,'], header));
    const run = await bench.import(
      'b.csv',
      csv(['c-1,Ann,Buyer,+14155550101', 'c-2,Bo,Chef,', 'c-3,Cy,Cook,'], header),
    );
    expect(await changesOf(bench, run)).toMatchObject([
      {
        key: 'c-1',
        kind: 'patch',
        run: run.id,
        changes: [{ field: 'role', from: 'Lead', to: 'Buyer', why: 'changed' }],
      },
      { key: 'c-3', kind: 'create' },
    ]);
    const story = await readStory(homeOf(bench), run, { values: true });
    expect(storyDocument(homeOf(bench), story, null, { values: true })).toMatchObject({
      ...{ kind: 'file', origin: 'command', path: `${bench.folder}/b.csv`, mapping: null, changesKnown: 'all' },
      ...{ receivedAt: expect.stringMatching(/Z$/), finishedAt: expect.stringMatching(/Z$/), approvals: [] },
      changesFile: `${bench.parts.folders.reports}/${run.id}.changes.csv`,
    });
  });

  it('is complete over many pages, and ends at its limit', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(fillers(600)));
    const all = await changesOf(bench, run);
    expect(new Set(all.map(({ key }) => key)).size).toBe(600);
    expect((await changesOf(bench, run, 251)).map(({ key }) => key)).toEqual(all.slice(0, 251).map(({ key }) => key));
    expect((await bench.report(run)).changes).toHaveLength(600);
    expect(await readRunPageDocument(homeOf(bench), run)).toMatchObject({ changes: all, changesComplete: true });
    const [first, second] = all;
    expect(await readRunPageDocument(homeOf(bench), run, 2)).toMatchObject({
      ...{ changes: [first, second], changesKnown: 'all', changesComplete: false },
    });
  });

  it('comes from the report where the journal keeps it no longer, and says so where neither does', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,Lead,'], header));
    const before = await changesOf(bench, run);
    const { clock, ledger } = bench.world;
    clock.advance(1_000);
    await ledger.forget(clock.nowMs(), Number.MAX_SAFE_INTEGER, { journalMs: 0 });
    expect(await ledger.contacts.journal({ runId: run.id, limit: 1 })).toEqual([]);
    expect((await readStory(homeOf(bench), run, { values: true })).changesKnown).toBe('report');
    expect(await changesOf(bench, run)).toEqual(before);
    const elsewhere: RunHome = { ...homeOf(bench), runFolders: { reports: `${bench.folder}/none` } };
    expect(await readStory(elsewhere, run, { values: true })).toMatchObject({
      changesKnown: 'gone',
      changesFile: null,
    });
  });

  it('says that a run wrote nothing to contacts that it counts, where it adopted them and found them right', async () => {
    const bench = await openRunsBench();
    await bench.world.byHand('POST', '/v1/contacts', {
      externalId: 'c-1',
      defaultFields: { firstName: 'Ann', role: 'Lead' },
    });
    const run = await bench.import('a.csv', csv(['c-1,Ann,Lead,'], header));
    expect(run.counts).toMatchObject({ updated: 1, adopted: 1 });
    const story = await readStory(homeOf(bench), run, { values: true });
    expect(story.changesKnown).toBe('none');
    expect(changesHeading(createOutput({ color: false }), story)).toBe(
      '  1 contact changed; the journal has no write of this run',
    );
  });

  it('shows no values and no key where none are wanted', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,+14155550101'], header));
    const run = await bench.import('b.csv', csv(['c-1,Ann,Buyer,#CLEAR'], header));
    const [change] = await changesOf(bench, run);
    if (change === undefined) throw new Error('the run changed a contact');
    const lines = changeLines(createOutput({ color: false, values: false }), change, true);
    expect(lines).toEqual(['    role changed', '    phone removed']);
    const story = await readStory(homeOf(bench), run, { values: false });
    const pieces = await Array.fromAsync(jsonPieces(storyDocument(homeOf(bench), story, null, { values: false })));
    const { changes } = JSON.parse(pieces.join(''));
    expect(changes).toHaveLength(1);
    for (const text of [JSON.stringify(changes), ...lines]) expect(text).not.toMatch(/c-1|Buyer|Lead|5550101/);
    expect(changeLines(createOutput({ color: false }), change, false)).toEqual([
      '    c-1: role Lead → Buyer',
      '    c-1: phone.+14155550101 +14155550101 → –',
    ]);
  });
});
