import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveFolders, besideRealService, dataFolders } from '#src/config/data-folders.ts';
import { serviceFigures } from '#src/config/schema.ts';
import { configBench } from './support.ts';

describe('the data folder', () => {
  it('for a real service is the data folder itself', async () => {
    await using bench = await configBench();
    const { config } = await bench.load();
    const root = join(bench.folder, 'data');
    expect(dataFolders(config, 'real')).toEqual({
      root,
      importFolders: [join(root, 'import')],
      watched: [join(root, 'import')],
      claimed: join(root, 'claimed'),
      reports: join(root, 'reports'),
      phoneNumberSnapshots: join(root, 'snapshots', 'phone-numbers'),
      logs: join(root, 'logs'),
      queue: join(root, 'queue'),
      ledgerFile: join(root, 'ledger.sqlite'),
      lockFile: join(root, 'engine.lock'),
    });
  });

  it('for the sandbox is the same again in its own folder, and the plain import folder counts too', async () => {
    await using bench = await configBench();
    const { config } = await bench.load();
    const root = join(bench.folder, 'data', 'sandbox');
    expect(dataFolders(config, 'sandbox')).toMatchObject({
      root,
      importFolders: [join(root, 'import'), join(bench.folder, 'data', 'import')],
      ledgerFile: join(root, 'ledger.sqlite'),
      serviceStore: join(root, 'service.sqlite'),
      sandboxKeyFile: join(root, 'service.key'),
    });
  });

  it('an import folder that is set is the only one', async () => {
    await using bench = await configBench();
    const { config } = await bench.load({ env: { PATCHBAY_IMPORT: 'drop' } });
    expect(dataFolders(config, 'sandbox').importFolders).toEqual([join(bench.folder, 'drop')]);
    expect(dataFolders(config, 'real').importFolders).toEqual([join(bench.folder, 'drop')]);
  });

  it('for the sandbox beside a real service takes files from the folder of the sandbox alone', async () => {
    await using bench = await configBench();
    for (const env of [{}, { PATCHBAY_IMPORT: 'drop' }]) {
      const { config } = await bench.load({ env });
      const own = join(bench.folder, 'data', 'sandbox', 'import');
      const shared = join(bench.folder, 'PATCHBAY_IMPORT' in env ? 'drop' : join('data', 'import'));
      const folders = besideRealService(dataFolders(config, 'sandbox'));
      expect(folders).toMatchObject({ watched: [own], importFolders: [own, shared] });
    }
  });

  it('archives lie in reserved folders of the import folder', () => {
    expect(archiveFolders('/srv/import')).toEqual({
      done: join('/srv/import', '_done'),
      failed: join('/srv/import', '_failed'),
      fix: join('/srv/import', '_fix'),
      stopped: join('/srv/import', '_stopped'),
    });
  });
});

describe('figures that depend on the service', () => {
  it('are 8 per second, 30s and 10s for a real one, and no limit, 2s and 0s for the sandbox', async () => {
    await using bench = await configBench();
    const { config } = await bench.load();
    expect(serviceFigures(config, 'real')).toEqual({
      requestsPerSecond: 8,
      latestCommitMs: 30_000,
      visibilityLagMs: 10_000,
    });
    expect(serviceFigures(config, 'sandbox')).toEqual({
      requestsPerSecond: null,
      latestCommitMs: 2_000,
      visibilityLagMs: 0,
    });
  });

  it('are what is set, for either service', async () => {
    await using bench = await configBench();
    const { config } = await bench.load({
      env: { PATCHBAY_RATE: '3', PATCHBAY_UPSERT_LATEST_COMMIT: '0s', PATCHBAY_UPSERT_VISIBILITY_LAG: '1s' },
    });
    const set = { requestsPerSecond: 3, latestCommitMs: 0, visibilityLagMs: 1_000 };
    expect([serviceFigures(config, 'real'), serviceFigures(config, 'sandbox')]).toEqual([set, set]);
  });
});
