/** Runs the fixtures of a mapping that a person names, of a feed's, or of the preset that a file is recognised as. */
import { findMapping } from '#src/feeds/feeds.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { type FixtureResult, runFixtures } from '#src/mapping/show/run-fixtures.ts';
import { type MapOptions, type MapParts, mapFile } from './map-file.ts';

export type { FixtureResult } from '#src/mapping/show/run-fixtures.ts';

export interface TestedMapping {
  readonly mapping: string;
  readonly fixtures: readonly FixtureResult[];
  readonly ok: boolean;
}

/**
 * @param file a mapping file, or an export; absent: the mapping is named by the options.
 * @throws PatchbayError as `mapFile`.
 */
export async function testMapping(
  parts: MapParts,
  options: MapOptions,
  file: string | undefined,
): Promise<TestedMapping> {
  const mapping = await mappingToTest(parts, options, file);
  const fixtures = mapping === null ? [] : runFixtures(mapping);
  return { mapping: mapping?.name ?? 'generic', fixtures, ok: fixtures.every(({ ok }) => ok) };
}

async function mappingToTest(parts: MapParts, options: MapOptions, file: string | undefined): Promise<Mapping | null> {
  if (file !== undefined) {
    return /\.ya?ml$/i.test(file) ? findMapping(file) : (await mapFile(parts, file, options)).mapping;
  }
  if (options.mapping !== undefined) return findMapping(options.mapping);
  return (await parts.feeds.get(options.feed ?? mainFeed)).mapping;
}
