/** Which columns a mapping names. Pure. */
import { genericTarget } from './generic-layout.ts';
import { normaliseHeader } from './header.ts';
import type { ColumnRef, Mapping } from './mapping-schema.ts';
import type { Settings } from './settings.ts';

/** Where a column goes depends on its name alone; what becomes of its cells, on these. */
const anySettings: Settings = {
  keyPrefix: '',
  sourceLabel: null,
  country: null,
  onBlank: 'keep',
  customFields: null,
  mayLack: [],
};

/** Whether the mapping gives the column a meaning, by its name; null is the generic layout. */
export function namesColumn(mapping: Mapping | null, column: string): boolean {
  if (mapping === null) return genericTarget(column, anySettings) !== null;
  return namedColumns(mapping).some(
    (named) => typeof named === 'string' && normaliseHeader(named) === normaliseHeader(column),
  );
}

function namedColumns({ key, fields, emails, phones, customFields }: Mapping): readonly ColumnRef[] {
  const columns = [...Object.values(fields), ...emails, ...phones, ...customFields];
  return [key, ...columns.flatMap((each) => each?.column ?? [])];
}
