/** The samples of known exports, read as a run reads them: source, recognition, mapping. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { type FileHead, isKnownHeader, type Recognition, recognise } from '#src/mapping/recognise.ts';
import type { SourceItem } from '#src/sources/row.ts';
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
  const header = { isHeader: isKnownHeader(await loadPresets()), wanted: 'header', hint: '' };
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
