/** The samples of known exports, read as a run reads them: source, recognition, mapping. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { createRowFilter } from '#src/mapping/conditions.ts';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { type FileHead, isKnownHeader, isKnownKey, type Recognition, recognise } from '#src/mapping/recognise.ts';
import type { SourceItem } from '#src/sources/row.ts';
import { noContext } from '#test/mapping/support.ts';
import { readAll } from '#test/sources/temp-files.ts';

/** Each sample, and the preset that it is recognised as. */
export const samples: readonly (readonly [string, string])[] = [
  ['google.csv', 'google'],
  ['google-old.csv', 'google-old'],
  ['outlook.csv', 'outlook'],
  ['outlook-web.csv', 'outlook'],
  ['outlook-com.csv', 'outlook-com'],
  ['hubspot.csv', 'hubspot'],
  ['hubspot-api.json', 'hubspot-api'],
  ['salesforce-report.csv', 'salesforce-report'],
  ['salesforce-report-ids.csv', 'salesforce-report'],
  ['salesforce-report-footer.csv', 'salesforce-report'],
  ['salesforce.csv', 'salesforce'],
  ['salesforce-data-loader.csv', 'salesforce'],
  ['salesforce-api.json', 'salesforce'],
  ['pipedrive.csv', 'pipedrive'],
  ['pipedrive-old.csv', 'pipedrive'],
  ['pipedrive-de.csv', 'pipedrive'],
  ['pipedrive-api.json', 'pipedrive-api'],
  ['zoho.csv', 'zoho'],
  ['mailchimp.csv', 'mailchimp'],
  ['mailchimp-unsubscribed.csv', 'mailchimp'],
  ['linkedin.csv', 'linkedin'],
  ['shopify.csv', 'shopify'],
  ['stripe.csv', 'stripe'],
  ['stripe-api.json', 'stripe-api'],
  ['icloud.vcf', 'vcard'],
  ['google.vcf', 'vcard'],
  ['outlook.vcf', 'vcard'],
  ['nextcloud.vcf', 'vcard'],
];

export function samplePath(name: string): string {
  return fileURLToPath(new URL(`../../../config/samples/exports/${name}`, import.meta.url));
}

export function sampleText(name: string): Promise<string> {
  return readFile(samplePath(name), 'utf8');
}

export interface ReadSample {
  readonly head: FileHead;
  readonly items: readonly SourceItem[];
}

/** All rows are the sample by which the file is recognised. */
export async function readSample(name: string, path = samplePath(name)): Promise<ReadSample> {
  const presets = await loadPresets();
  const header = { isHeader: isKnownHeader(presets), isKey: isKnownKey(presets), wanted: 'header', hint: '' };
  const { head, items } = await readAll(path, { name, header });
  return { head: { ...head, sample: items.map(({ row }) => row) }, items };
}

/** The names of the presets, or `generic`, `unknown`. */
export function namesOf(found: Recognition): readonly string[] {
  if (found.kind === 'preset') return [found.mapping.name];
  return found.kind === 'ambiguous' ? found.mappings.map(({ name }) => name) : [found.kind];
}

export async function recogniseSample(name: string, path = samplePath(name)): Promise<readonly string[]> {
  return namesOf(recognise((await readSample(name, path)).head, await loadPresets()));
}

export async function presetNamed(name: string): Promise<Mapping> {
  const preset = (await loadPresets()).find((one) => one.name === name);
  if (preset === undefined) throw new Error(`there is no preset ${name}`);
  return preset;
}

/** A contact in a few words: items as `label: value`. */
export interface ReadContact {
  readonly key: string;
  readonly [field: string]: string | readonly string[];
}

export interface MappedSample {
  readonly contacts: readonly ReadContact[];
  /** `line: codes` of rejected rows. */
  readonly rejected: readonly string[];
  /** `line: code` of warnings. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly ignored: readonly string[];
}

/** Reads a sample as a run does, without options and without custom fields. */
export async function mapSample(name: string, path = samplePath(name)): Promise<MappedSample> {
  const { head, items } = await readSample(name, path);
  const found = recognise(head, await loadPresets());
  if (found.kind !== 'preset') throw new Error(`${name} is ${found.kind}`);
  const compiled = compileMapping(found.mapping, { columns: head.columns }, noContext);
  const filter = createRowFilter(found.mapping, head.columns);
  const contacts: ReadContact[] = [];
  const rejected: string[] = [];
  const warnings: string[] = [];
  for (const item of items) {
    if (filter.skips(item)) continue;
    const { line } = item.row;
    if (item.type === 'broken') {
      rejected.push(`${line}: ${item.problem.code}`);
      continue;
    }
    compiled.see(item.row);
    const mapped = compiled.mapRow(item.row);
    warnings.push(...mapped.warnings.map(({ code }) => `${line}: ${code}`));
    if (mapped.kind === 'dead') rejected.push(`${line}: ${mapped.problems.map(({ code }) => code).join(' ')}`);
    else contacts.push(inWords(mapped.desired));
  }
  compiled.refuseLacking();
  expect(compiled.leftOut).toEqual([]);
  return { contacts, rejected, warnings, notes: filter.notes(), ignored: compiled.unmappedColumns };
}

function inWords({ key, scalars, emails, phones }: DesiredContact): ReadContact {
  const set = Object.entries(scalars).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const list = (slots: DesiredContact['emails']) =>
    slots.flatMap(({ items }) => (items ?? []).map(({ label, value }) => `${label}: ${value}`));
  const [emailsFound, phonesFound] = [list(emails), list(phones)];
  return {
    key,
    ...Object.fromEntries(set),
    ...(emailsFound.length === 0 ? {} : { emails: emailsFound }),
    ...(phonesFound.length === 0 ? {} : { phones: phonesFound }),
  };
}
