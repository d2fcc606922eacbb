/** What is printed to be typed next can be pasted: with the options of the command that printed it, and with any key. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';

/** The first command that a text prints after these words, as a shell hands it over. */
function printed(text: string, after: string): readonly string[] {
  const line = text.split('\n').find((one) => one.includes(after)) ?? '';
  const command = line.slice(line.indexOf('patchbay ', line.indexOf(after)));
  const script = `patchbay() { printf '%s\\0' "$@"; }; ${command}`;
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    .split('\0')
    .slice(0, -1);
}

const header = 'externalId,firstName,role\n';

/** A field of each key is held: the file and people changed it. */
async function heldRoles(journey: Journey, keys: readonly string[]): Promise<void> {
  const service = await journey.service();
  const rows = (role: string) => `${header}${keys.map((key) => `"${key}",Ann,${role}\n`).join('')}`;
  await journey.call(['import', '--feed', 'crm', journey.file('before.csv', rows('X'))]);
  for (const key of keys) await service.edit(key, { role: 'Y' });
  await journey.call(['import', '--feed', 'crm', journey.file('after.csv', rows('Z'))]);
}

describe('the sandbox beside a configured service', () => {
  test('is what status, doctor and runs name, with the folder to drop files into, and what they advise', async ({
    journey,
  }) => {
    await journey.service();
    const folder = join(journey.data, 'sandbox', 'import');
    const doctor = await journey.call(['doctor', '--sandbox', '--data', journey.data]);
    expect(doctor.stdout).toContain(`not running: patchbay --data ${journey.data} start --sandbox`);
    expect(doctor.stdout).toContain(`files go into ${folder}`);
    expect((await journey.call(['status', '--sandbox'])).stdout).toContain(`import folder ${folder}\n`);
    expect((await journey.call(['runs', '--sandbox'])).stdout).toContain(`drop a file into ${folder}\n`);
  });
});

describe('the note beside a file of the sandbox', () => {
  test('names commands that find it there, also where a service is configured', async ({ journey }) => {
    await journey.service();
    await journey.call(['import', '--sandbox', journey.file('people.csv', 'number,name\n1,Ann\n')]);
    const folder = join(journey.data, 'sandbox', 'import', '_failed');
    const note = journey.names('sandbox/import/_failed').find((name) => name.endsWith('.reason.txt')) ?? '';
    expect(readFileSync(join(folder, note), 'utf8')).toMatch(/^next .*type: patchbay map --sandbox \S+people\.csv$/m);
  });
});

describe('the note on a stopped file', () => {
  test('approves it from any folder, also where --data named the data folder', async ({ journey }) => {
    const data = join(journey.data, '..', 'my data');
    const rows = (role: string) => `${header}${Array.from({ length: 12 }, (_, n) => `c-${n},Ann,${role}\n`).join('')}`;
    await journey.call(['import', '--sandbox', '--data', data, journey.file('one.csv', rows('X'))]);
    const stopped = await journey.call(['import', '--sandbox', '--data', data, journey.file('two.csv', rows('Y'))]);
    expect(stopped.code).toBe(5);
    const [note = ''] = readdirSync(join(data, 'sandbox', 'import', '_stopped'));
    const approve = printed(readFileSync(join(data, 'sandbox', 'import', '_stopped', note), 'utf8'), 'approve the run');
    expect(approve.slice(0, 2)).toEqual(['--data', data]);
    expect((await journey.call([...approve, '--yes'])).code).toBe(0);
  });
});

describe('a retry that is stopped', () => {
  test('names how to leave its rows out, and what lists their letters then', async ({ journey }) => {
    await journey.service();
    const rows = (key: string, phone: string) =>
      journey.file('a.csv', `externalId,firstName,lastName,phone\n${key},Ann,Fir,${phone}\n`);
    await journey.call(['import', '--feed', 'my shop', rows('0101', '+14155550101')]);
    await journey.call(['import', '--feed', 'my shop', rows('101', '4155550101')]);
    const [fixFile = ''] = journey.names('import/_fix');
    const place = join(journey.data, 'import', '_fix', fixFile);
    const stopped = await journey.call(['import', '--default-country', 'US', place]);
    expect(stopped.code).toBe(5);
    expect((await journey.call(printed(stopped.stdout, 'To leave these rows out'))).code).toBe(0);
    const list = printed(stopped.stdout, 'To list them');
    expect(list).toEqual(['dead', 'ls', '--feed', 'my shop']);
    expect((await journey.call(['--json', ...list])).documents).toMatchObject([{ key: '101', state: 'open' }]);
  });
});

describe('a command that does not exist', () => {
  test('has its suggestion with the options of the folder', async ({ journey }) => {
    const { stderr } = await journey.call(['runs', 'aprove', 'r-1', '--data', 'd']);
    expect(stderr).toContain('Did you mean: patchbay --data d runs approve?');
  });
});

describe('a key that looks like an option', () => {
  test('is in the commands of held ls, which decide about it', async ({ journey }) => {
    await heldRoles(journey, ["-5 O'Hara"]);
    const listed = await journey.call(['held', 'ls']);
    const keep = printed(listed.stdout, "keep the app's value");
    expect(keep).toEqual(['held', 'take', 'app', '--field', 'role', '--', "-5 O'Hara"]);
    expect(await journey.call(keep)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 field') });
    expect((await journey.call(['held', 'ls'])).stdout).toBe('no held fields\n');
  });
});

describe('a list that is cut', () => {
  test('of held fields goes on with the same choice', async ({ journey }) => {
    await heldRoles(journey, ['-1', '-2', 'c 3']);
    const choice = ['--feed', 'crm', '--field', 'role', '--key', '-2'];
    const cut = await journey.call(['held', 'ls', '--limit', '1', ...choice, '--', '-1', 'c 3']);
    const more = printed(cut.stdout, 'more:');
    expect(more).toEqual(['held', 'ls', ...choice, '--limit', '3', '--', '-1', 'c 3']);
    expect((await journey.call(['--json', ...more])).documents).toHaveLength(3);
  });

  test('of runs and of dead letters, too; their retry takes what was listed', async ({ journey }) => {
    await journey.service();
    const rejected = (key: string) => journey.file(`${key}.csv`, `externalId,phone\n${key},nonsense\n`);
    for (const feed of ['crm', 'my shop']) {
      await journey.call(['import', '--feed', feed, rejected('a')]);
      await journey.call(['import', '--feed', feed, rejected('b')]);
    }
    const runs = await journey.call(['runs', '--feed', 'my shop', '--limit', '1']);
    const older = printed(runs.stderr, 'older runs');
    const [newest] = (await journey.runs()).toReversed();
    expect(older).toEqual(['runs', 'ls', '--feed', 'my shop', '--limit', '1', '--after', newest?.id]);
    expect((await journey.call(['--json', ...older])).documents).toMatchObject([{ feed: 'my shop', file: 'a.csv' }]);

    const dead = await journey.call(['dead', '--feed', 'my shop', '--limit', '1']);
    const rest = printed(dead.stderr, 'go on with');
    expect(rest.slice(0, -1)).toEqual(['dead', 'ls', '--feed', 'my shop', '--limit', '1', '--after']);
    expect((await journey.call(['--json', ...rest])).documents).toMatchObject([{ feed: 'my shop' }]);
    const retry = printed(dead.stdout, 'after a change of the mapping');
    expect(retry).toEqual(['dead', 'retry', '--feed', 'my shop', '--remap']);
    expect((await journey.call(['--json', ...retry])).documents).toMatchObject([{ feed: 'my shop', rows: 2, dead: 2 }]);
  });
});

describe('a plan', () => {
  test('of a file names how it was read, in what to type next', async ({ journey }) => {
    await journey.service();
    const file = journey.file("-it's.csv", 'externalId;phone\nc-1;030 123456\n');
    const reading = [
      '--delimiter',
      ';',
      '--default-country',
      'DE',
      '--on-blank',
      'clear',
      '--on-gone',
      'skip',
      '--update-only',
    ];
    const made = await journey.call(['plan', '--feed', 'crm', ...reading, file, '--json']);
    writeFileSync(file, 'externalId;phone\nc-1;030 654321\n');
    const moved = await journey.call(['import', '--plan', made.documents[0].plan]);
    expect(moved.code, moved.stderr).toBe(5);
    expect(printed(moved.stderr, 'Make a new plan with')).toEqual(['plan', '--feed', 'crm', ...reading, file]);
  });

  test('of a run that waits for a choice names both, and of an undo what it deletes', async ({ journey }) => {
    const service = await journey.service();
    const body = { defaultFields: { firstName: 'Ann', phoneNumbers: [{ name: 'work', value: '+14155550101' }] } };
    const made = await fetch(`${service.origin}/v1/contacts`, {
      method: 'POST',
      headers: { authorization: service.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(made.ok).toBe(true);
    const file = journey.file('people.csv', 'externalId,firstName,phone\nc-1,Ann,+14155550101\n');
    const [stopped] = (await journey.call(['import', '--json', file])).documents;
    expect(stopped).toMatchObject({ state: 'stopped' });
    const planned = await journey.call(['plan', '--run', stopped.run]);
    expect(printed(planned.stdout, 'instead')).toEqual(['runs', 'approve', stopped.run, '--adopt']);
    expect(planned.stdout).toContain(`carry it out: patchbay runs approve ${stopped.run} --create-anyway;`);
    const [{ plan }] = (await journey.call(['plan', '--run', stopped.run, '--json'])).documents;
    expect((await journey.call(['import', '--plan', plan])).stderr).toContain(`${stopped.run} --create-anyway;`);

    const again = await journey.call(['plan', file]);
    expect(again.stdout).toMatch(
      /patchbay plan --adopt \S+people\.csv\n.*patchbay plan --create-anyway \S+people\.csv/,
    );
    await journey.call(['runs', 'approve', stopped.run, '--create-anyway']);
    const undo = await journey.call(['runs', 'undo', stopped.run, '--plan', '--delete-created']);
    expect(printed(undo.stdout, 'carry it out')).toEqual(['runs', 'undo', stopped.run, '--delete-created']);
  });
});
