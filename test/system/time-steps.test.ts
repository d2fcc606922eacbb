import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { peopleCsv, peopleKeys } from '#test/support/people.ts';

const hourMs = 3_600_000;
const preload = new URL('../support/stepped-wall.mjs', import.meta.url).href;

describe.concurrent('an engine whose wall clock', () => {
  test.for([
    ['is set back by an hour', -hourMs],
    ['is put forward by an hour', hourMs],
  ] as const)('%s in the middle of its work ends it as usual', async ([, stepMs], { journey }) => {
    const rows = 60;
    const service = await journey.service(['create:dropAfter:40%', 'create:latency=20ms']);
    const file = journey.file('people.csv', peopleCsv(rows));
    const wall = journey.file('wall', '0');
    const env = { NODE_OPTIONS: `--import=${preload}`, WALL_OFF_FILE: wall };
    const startedMs = performance.now();
    const importing = journey.start(['import', '--json', '--audit', '--wait', '20s', file], env);
    await service.creates(rows / 2);
    writeFileSync(wall, `${stepMs}`);
    const { code, documents, stderr } = await importing.ended();
    expect(code, stderr).toBe(0);
    expect(documents).toMatchObject([{ state: 'done', rows, created: rows, dead: 0, pending: 0 }]);
    expect(await service.keys()).toEqual(peopleKeys(rows));
    // Some seconds of doubt, and an audit; nothing waits for the hour to pass.
    expect(performance.now() - startedMs).toBeLessThan(60_000);
  });
});
