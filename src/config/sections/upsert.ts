/** Settings of the upsert (`rules.md`, "One contact per key" and "Three pictures, one plan"). */
import { z } from 'zod';
import { choice, duration, wholeNumber } from '../forms.ts';
import { settingTraits } from '../traits.ts';

export const upsertSection = z
  .strictObject({
    latestCommit: duration('0s', '1h')
      .nullable()
      .default(null)
      .describe(
        'How long after a POST was sent the service may still commit it; null means 30s, and 2s for the sandbox.',
      )
      .register(settingTraits, { env: 'PATCHBAY_UPSERT_LATEST_COMMIT' }),
    visibilityLag: duration('0s', '1h')
      .nullable()
      .default(null)
      .describe('How long a committed contact may be missing from lists; null means 10s, and 0s for the sandbox.')
      .register(settingTraits, { env: 'PATCHBAY_UPSERT_VISIBILITY_LAG' }),
    itemRemoval: choice(['owned', 'none'])
      .default('owned')
      .describe(
        'Which e-mails, phones and custom fields an import may remove: those the same feed wrote (owned), or none.',
      ),
    attemptsMax: wholeNumber(1, 10).default(3).describe('How often a create in doubt is tried before its row is dead.'),
    rowsPerBatch: wholeNumber(1, 1_000).default(100).describe('Rows that one job of the queue works on.'),
    batchesAtOnce: wholeNumber(1, 64).default(2).describe('Batches that one process works on at the same time.'),
    lease: duration('20s', '10m')
      .prefault('45s')
      .describe('How long a worker holds a contact before another may take it over.'),
  })
  .describe('How contacts are created and changed.');
