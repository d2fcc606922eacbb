/** `patchbay audit RUN` and `import --audit` (`docs/contract.md`, "Commands", "Exit codes"). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { showRun } from '#src/cli/commands/runs.ts';
import { status } from '#src/cli/commands/status.ts';
import { captureOutput } from '#test/cli/support/captured-output.ts';
import { test } from '#test/support/journey.ts';
import { addTwin } from '#test/support/twin.ts';

const header = 'externalId,firstName,role';

describe('an audit', () => {
  test('is waited for with --audit, names a duplicate with both ids, and ends with 3', async ({ journey }) => {
    const first = journey.file('first.csv', `${header}\nc-1,Ann,A\nc-2,Bob,A\nc-3,Cat,A\n`);
    const options = ['--sandbox', '--json'];
    const imported = await journey.run(['import', ...options, '--audit', first]);
    expect(imported.code, imported.stderr).toBe(0);
    const [{ run, requests, audit }] = imported.documents;
    expect(audit).toEqual({ checked: 3, duplicates: [], missing: 0, unchecked: 0, requests: 1 });
    expect(requests.get).toBe(1);
    expect(existsSync(join(journey.data, 'sandbox', 'reports', `${run}.audit.json`))).toBe(true);

    const ids = addTwin(join(journey.data, 'sandbox', 'service.sqlite'), 'c-2');
    const audited = await journey.call(['audit', ...options, run]);
    expect(audited.code, audited.stderr).toBe(3);
    const [document] = audited.documents;
    expect(document).toMatchObject({ run, kind: 'demand', scope: 'touched', keys: 3, checked: 3, exitCode: 3 });
    expect(document).toMatchObject({ duplicateCount: 1, missing: 0, requests: 1 });
    const [duplicate] = document.duplicates;
    expect(duplicate.key).toBe('c-2');
    expect(duplicate.contacts.map((one: { id: string }) => one.id).toSorted()).toEqual([...ids].toSorted());
    const bound = duplicate.contacts.find((one: { id: string }) => one.id === ids[0]).bound;
    expect(bound.run).toBe(run);

    const captured = captureOutput();
    await status({ data: journey.data, sandbox: true, color: false });
    const command = `patchbay --data ${journey.data} audit --sandbox ${run}`;
    expect(captured.stdout()).toContain(`duplicates    ${run}  1 key with more than one contact  ${command}`);
    await showRun({ data: journey.data, sandbox: true, color: false }, run);
    expect(captured.stdout()).toMatch(/audit at \S+: 3 keys checked, 1 has more than one contact\n {4}c-2\n/);

    const again = journey.file('again.csv', `${header}\nc-1,Ann,A\nc-2,Bob,B\nc-3,Cat,A\n`);
    const changed = await journey.call(['import', ...options, '--audit', again]);
    expect(changed.code, changed.stderr).toBe(3);
    expect(changed.documents[0]).toMatchObject({ rows: 3, unchanged: 2, dead: 1, audit: { checked: 1 }, exitCode: 3 });
    expect(changed.documents[0].audit.duplicates).toMatchObject([{ key: 'c-2' }]);
  });
});
