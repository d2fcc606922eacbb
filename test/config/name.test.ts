/** The name of an installation: the one setting that is in no section. */
import { describe, expect, it } from 'vitest';
import { printConfig } from '#src/config/document.ts';
import { configBench } from './support.ts';

describe('the name of an installation', () => {
  it('is none by default, and set in the file or by PATCHBAY_NAME', async () => {
    await using bench = await configBench();
    expect((await bench.load()).config.name).toBeNull();
    await bench.write('patchbay.yaml', 'name: berlin\n');
    const fromFile = await bench.load();
    expect([fromFile.config.name, fromFile.sources.name?.name]).toEqual(['berlin', 'patchbay.yaml:1:7']);
    expect(printConfig(fromFile)).toContain('\nname: berlin # patchbay.yaml:1:7\n');
    const { config, warnings } = await bench.load({ env: { PATCHBAY_NAME: 'Büro Köln 2' } });
    expect([config.name, warnings]).toEqual(['Büro Köln 2', []]);
  });

  it.each(['', ' ', 'a"b', '<b>', 'two\nlines', '-x', 'x'.repeat(41)])('is not %j', async (name) => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', `name: ${JSON.stringify(name)}\n`);
    const [problem] = await bench.problems();
    expect(problem).toMatch(/^patchbay\.yaml:1:7: name must be a name of letters, digits, spaces/);
  });

  it('is no section', async () => {
    await using bench = await configBench();
    await bench.write('patchbay.yaml', 'name:\n  of: berlin\n');
    expect(await bench.problems()).toEqual([expect.stringContaining('name must be a name of letters')]);
    await bench.write('patchbay.yaml', 'nam: berlin\n');
    expect(await bench.problems()).toEqual(['patchbay.yaml:1:1: unknown section "nam" (did you mean "name"?)']);
  });
});
