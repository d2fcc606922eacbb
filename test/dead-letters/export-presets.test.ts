/** A rejected row of every known export goes out with `dead export`, is corrected there, and goes in (`docs/rules.md`, "Dead letters"). */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { findMapping } from '#src/feeds/feeds.ts';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import { exportDeadLetters } from '#src/operations/mend-letters.ts';
import { openRunsBench } from '#test/runs/support/runs-bench.ts';

/** One sample for each preset, and for the mappings that only a person names. */
const samples: Readonly<Record<string, string>> = {
  google: 'exports/google.csv',
  'google-old': 'exports/google-old.csv',
  hubspot: 'exports/hubspot.csv',
  'hubspot-api': 'exports/hubspot-api.json',
  linkedin: 'exports/linkedin.csv',
  mailchimp: 'exports/mailchimp.csv',
  outlook: 'exports/outlook.csv',
  'outlook-com': 'exports/outlook-com.csv',
  pipedrive: 'exports/pipedrive.csv',
  'pipedrive-api': 'exports/pipedrive-api.json',
  salesforce: 'exports/salesforce.csv',
  'salesforce-report': 'exports/salesforce-report.csv',
  shopify: 'exports/shopify.csv',
  stripe: 'exports/stripe.csv',
  'stripe-api': 'exports/stripe-api.json',
  vcard: 'exports/google.vcf',
  zoho: 'exports/zoho.csv',
  generic: 'contacts.csv',
  'example-crm': 'crm-export.csv',
};

/** A name of each sample, spoilt by a character that no cell may hold. */
const names = ['Mara', 'Ada', 'Annika', 'Grace', ';Priya Raman'];
const bell = '\u0007';

test('every preset has a sample here', async () => {
  const presets = (await loadPresets()).map(({ name }) => name);
  expect(presets.filter((name) => samples[name] === undefined)).toEqual([]);
});

test.each(Object.entries(samples))('%s', async (name, sample) => {
  const bench = await openRunsBench();
  const text = await readFile(new URL(`../../config/samples/${sample}`, import.meta.url), 'utf8');
  const spoilt = names.find((one) => text.includes(one));
  if (spoilt === undefined) throw new Error(`${sample} has none of the names`);
  const isJson = sample.endsWith('.json');
  const broken = text.replace(spoilt, `${spoilt}${isJson ? '\\u0007' : bell}`);
  const isPreset = (await loadPresets()).some((one) => one.name === name);
  const named = isPreset || name === 'generic' ? {} : { mapping: await findMapping(name) };
  const file = sample.replace(/^.*\//, '');
  const run = await bench.import(file, broken, { ...named, options: { accept: true, defaultCountry: 'US' } });
  expect([run.state, run.mapping?.name ?? 'generic']).toEqual(['doneWithDead', name]);
  expect(run.counts).toMatchObject({ dead: 1 });

  const [exported, ...others] = await exportDeadLetters({ submit: bench.parts }, { ids: [], run: run.id }, null);
  expect(others).toEqual([]);
  const path = exported?.file ?? '';
  const rows = await readFile(path, 'utf8');
  expect(rows).toContain(isJson || sample.endsWith('.vcf') ? '\\u0007' : bell);
  const corrected = rows.replaceAll(bell, '').replaceAll('\\u0007', '');
  await writeFile(path, corrected);

  // Untouched it is rejected again, and leaves no second letter.
  const ending = path.slice(path.lastIndexOf('.'));
  const untouched = await bench.import(`untouched${ending}`, rows);
  expect(untouched.counts).toMatchObject({ rows: 1, dead: 1, deadNew: 0 });
  const done = await bench.import(`corrected${ending}`, corrected);
  expect([done.feed, done.kind, done.mapping?.name ?? 'generic']).toEqual(['main', 'fixFile', name]);
  expect(done.counts).toMatchObject({ rows: 1, created: 1, dead: 0 });
  expect((await bench.ledger.counts()).openLetters).toBe(0);

  // As if it had never been rejected: the whole file again changes nothing.
  const whole = await bench.import(file, text, { ...named, options: { accept: true, defaultCountry: 'US' } });
  const { rows: all, unchanged, skipped } = whole.counts;
  expect([whole.state, unchanged + skipped]).toEqual(['done', all]);
});
