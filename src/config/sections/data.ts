/** Settings of the data folder (`contract.md`, "Data folder"). */
import { z } from 'zod';
import { duration, path } from '../forms.ts';
import { settingTraits } from '../traits.ts';

export const dataSection = z
  .strictObject({
    folder: path()
      .default('./data')
      .describe('The folder of the ledger, the reports, the logs and the import folder.')
      .register(settingTraits, { env: 'PATCHBAY_DATA', path: true }),
    importFolder: path()
      .nullable()
      .default(null)
      .describe('The folder to drop files into; null means import in the data folder.')
      .register(settingTraits, { env: 'PATCHBAY_IMPORT', path: true }),
    keepFiles: duration('1d', '3650d')
      .prefault('30d')
      .describe('How long archived originals, fix-files and reports are kept.'),
  })
  .describe(
    'Where Patchbay keeps its files. A relative path starts at the folder of the config file that holds it, elsewhere at the current folder.',
  );
