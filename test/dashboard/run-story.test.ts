/** What the page of a run tells for a decision, as `runs show` does: its plan, what was approved and why, what it changed. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checksumOf } from '#src/ledger/rules/approval.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { csv, openRunsBench } from '#test/runs/support/runs-bench.ts';
import { dashboardBench, enterRun, finishedRun, stageRun, startMs } from './dashboard-bench.ts';

const act = { kind: 'approve', who: 'ann', by: 'command', ledgerAtMs: 1, facts: {} } as const;

it('runs that its notes, its reason and the acts of people name are links, and those in commands are not', async () => {
  const bench = await dashboardBench();
  const [older, newer] = ['20261121T130000Z-00000a', '20261121T130000Z-00000b'] as const;
  const run = await enterRun(bench, { kind: 'undo', options: { ...noOptions, undoes: older } });
  const reason = {
    code: 'superseded',
    message: `run ${newer} took its place`,
    hint: `patchbay plan --run ${newer}`,
    facts: {},
  };
  const notes = [
    `takes the place of run ${older}, which was stopped`,
    `see run ${run.id}, or: patchbay plan --run ${older}`,
  ];
  await bench.ledger.runs.record(run.id, { notes });
  await bench.ledger.runs.move(run.id, ['queued'], 'cancelled', { atMs: startMs, reason });
  await enterRun(bench, { id: older });
  const { text } = await bench.page(`/runs/${run.id}?refresh=off`);
  const link = (id: string): string => `<a href="/runs/${id}?refresh=off"><code>${id}</code></a>`;
  expect(text).toContain(`takes the place of run ${link(older)}, which was stopped`);
  expect(text).toContain(`run ${link(newer)} took its place`);
  expect(text).toContain(`see run ${run.id}, or: patchbay plan --run ${older}`);
  expect(text).toContain(`<p>patchbay plan --run ${newer}</p>`);
  expect(text).toContain(`takes back what a run wrote: run ${link(older)}`);
});

it('a stopped run shows how it came, the plan that is kept of it, and the command that makes one', async () => {
  const bench = await dashboardBench();
  const options = {
    ...noOptions,
    origin: 'command',
    path: '/exports/crm.csv',
    acceptReason: 'the yearly export',
  } as const;
  const run = await enterRun(bench, { options });
  await stageRun(bench, run, { rows: 30 });
  const reason = { code: 'guardUpdates', message: '9 of 10 would change', hint: 'Look at it.', facts: {} };
  await bench.ledger.runs.move(run.id, ['staging'], 'stopped', { atMs: startMs, reason });
  const command = `To see what it would write: <code>patchbay plan --run ${run.id}</code>`;
  const before = (await bench.page(`/runs/${run.id}`)).text;
  expect(before).toContain(command);
  expect(before).not.toContain('What it would write');
  expect(before).toMatch(/<dt>Read by<\/dt><dd><bdi>generic layout/);
  expect(before).toMatch(/<dt>Came by<\/dt><dd>named by a command: <code class="path">\/exports\/crm\.csv/);
  expect(before).toContain('Reason given with the import: <bdi>the yearly export</bdi>');
  expect((await bench.page('/')).text).toContain(command);

  const { plans } = bench.ledger;
  await plans.begin('p1', startMs);
  const change = { field: 'role', from: '<b>Lead', to: 'Buyer', why: 'changed' } as const;
  const contacts = Array.from({ length: 23 }, (_, index) => ({
    ...{
      key: `c-<${index}>`,
      line: index + 2,
      name: 'Ada',
      contactId: `p-${index}`,
      deed: 'update',
      changes: [change],
    },
    ...{ held: [], notes: [], digest: `${index}` },
  }));
  const created = [0, 1].map((index) => ({ ...contacts[0], key: `n-${index}`, contactId: null, deed: 'create' }));
  await plans.enter('p1', [...created, ...contacts] as never);
  const counts = { added: 2, changed: 23, cleared: 0, removed: 0, relabelled: 0, heldFields: 0, linked: 0, deleted: 0 };
  await plans.keep({
    ...{ id: 'p1', feed: 'main', runId: run.id, undoes: null, fileName: 'crm.csv', sha256: 'sha', path: null },
    ...{ service: 'sandbox', reading: null, mappingNamed: null, stop: null, checksum: 'sum', createdAtMs: startMs },
    totals: {
      ...{ rows: { rows: 30, created: 2, updated: 23, unchanged: 5, skipped: 0, dead: 0 }, ...counts },
      ...{ requests: { get: 1, post: 2, patch: 23, delete: 0 }, seconds: 3 },
    },
  });
  const { text } = await bench.page(`/runs/${run.id}`);
  expect(text).toMatch(/What it would write<\/h2>[\s\S]*Plan <code>p1<\/code>[\s\S]*23 contacts to update/);
  expect(text).toMatch(/2 contacts to create[\s\S]*n-0[\s\S]*n-1[\s\S]*23 contacts to update/);
  expect(text).toMatch(/c-&lt;0&gt;[\s\S]*<bdi>role<\/bdi>[\s\S]*&lt;b&gt;Lead[\s\S]*Buyer/);
  expect(text).toContain('And 3 more.');
});

it('what people did with a run is there with who and why', async () => {
  const bench = await dashboardBench();
  const run = await enterRun(bench);
  await stageRun(bench, run, { rows: 10 });
  const facts = { updatesCount: 9, updatesBase: 10, updatesLimit: 0.3 };
  const reason = { code: 'guardUpdates', message: '9 of 10 would change', hint: null, facts };
  await bench.ledger.runs.move(run.id, ['staging'], 'stopped', { atMs: startMs, reason });
  const figures = [{ guard: 'updates', count: 9, base: 10, limit: 0.3 }];
  const why = 'the new <mail> domain';

  const approval = { checksum: checksumOf(reason), figures, reason: why, atMs: startMs };
  expect(await bench.ledger.runs.approve(run.id, approval, { ...act, atMs: startMs, reason: why })).toBe(true);
  const { text } = await bench.page(`/runs/${run.id}`);
  expect(text).toMatch(/What people did[\s\S]*<bdi>ann<\/bdi><\/strong> <bdi>approved run/);
  expect(text).toContain('approved updates 9 of 10 (90%): <bdi>the new &lt;mail&gt; domain</bdi>');
  expect((await bench.page('/')).text).not.toContain('What people did');
});

it('what a run changed is there from what to what, with the table of all changes', async () => {
  const world = await openRunsBench();
  const bench = await dashboardBench({ ledger: world.ledger });
  await world.import('a.csv', csv(['c-1,Ann,<b>Lead'], 'externalId,firstName,role'));
  const second = await world.import('b.csv', csv(['c-1,Ann,Buyer'], 'externalId,firstName,role'));
  const id = (await world.ledger.runs.list({ limit: 1 }))[0]?.id ?? '';
  expect(second).toBeDefined();
  await mkdir(bench.parts.runFolders.reports, { recursive: true });
  const path = join(bench.parts.runFolders.reports, `${id}.changes.csv`);
  await writeFile(path, 'key\n');
  const { text } = await bench.page(`/runs/${id}`);
  expect(text).toMatch(/What it changed<\/h2>[\s\S]*c-1[\s\S]*<bdi>role<\/bdi>[\s\S]*&lt;b&gt;Lead[\s\S]*Buyer/);
  expect(text).toContain(`All changes as a table: <code class="path">${path}</code>`);
});

it('of a run whose changes are kept no longer says so', async () => {
  const bench = await dashboardBench();
  const run = await finishedRun(bench, []);
  expect((await bench.page(`/runs/${run.id}`)).text).toContain('from what to what is no longer kept');
});

it('a file that was not read names no layout, and says where it and its note are as long as it is there', async () => {
  const bench = await dashboardBench();
  const run = await enterRun(bench, { fileName: 'locked.xlsx', options: { ...noOptions, origin: 'folder' } });
  const reason = { code: 'xlsxProtected', message: 'it has a password', hint: 'Remove it.', facts: {} };
  await bench.ledger.runs.move(run.id, ['queued'], 'failed', { atMs: startMs, reason });
  const path = join(run.importFolder, '_failed', `${run.id}__locked.xlsx`);
  const shown = async () => {
    const { text } = await bench.page(`/runs/${run.id}`);
    const { body } = await bench.json(`/runs/${run.id}`);
    return { text, body };
  };
  const gone = await shown();
  expect(gone.body).toMatchObject({ failedFile: null });
  expect(gone.text).not.toMatch(/_failed|Read by/);
  await mkdir(join(run.importFolder, '_failed'), { recursive: true });
  await writeFile(path, 'x');
  const kept = await shown();
  expect(kept.body).toMatchObject({ failedFile: path });
  expect(kept.text).toContain(`<code class="path">${path}</code><br><code class="path">${path}.reason.txt</code>`);
});
