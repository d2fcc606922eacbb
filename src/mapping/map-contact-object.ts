/**
 * A JSON object in the interface's own contact shape (`interface.md`, section 2) → a contact, so that the export of
 * a workspace goes back in.
 *
 * What only the service writes (id, createdAt, updatedAt, createdByUserId; name, type and id of items) is no news.
 */
import { type ScalarName, scalarNames } from '#src/contacts/desired.ts';
import type { ObjectRow } from '#src/sources/row.ts';
import { applyMembers, type BoundMember, bindCustomList } from './bound-member.ts';
import { bad } from './flaw.ts';
import { isJsonObject, type JsonObject, memberOf, type UnmappedNames } from './json-object.ts';
import { keyMissing } from './key-cell.ts';
import { type MappedRow, RowDraft } from './row-draft.ts';
import type { Settings } from './settings.ts';
import type { Target } from './target.ts';

/** Written by the service only. */
const serviceMembers: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt', 'createdByUserId']);
const defaultFieldNames: readonly ScalarName[] = scalarNames.filter((name) => name !== 'sourceUrl');

/** True for an object that is written as the service writes its contacts. */
export function isContactShape(object: JsonObject): boolean {
  return Object.hasOwn(object, 'defaultFields');
}

export function mapContactObject(row: ObjectRow, settings: Settings, unmapped: UnmappedNames): MappedRow {
  const draft = new RowDraft(row.line, settings.sourceLabel);
  const { object } = row;
  const defaults = memberOf(object, 'defaultFields') ?? null;
  if (!isJsonObject(defaults)) {
    draft.problem(
      'defaultFields',
      defaults,
      bad('shapeWrong', '"defaultFields" is no object', 'Write {…} there.').flaw,
    );
  }
  if (!Object.hasOwn(object, 'externalId')) draft.problem('externalId', undefined, keyMissing);
  applyMembers(draft, [
    ...bindAll(object, '', contactTargets(settings), unmapped),
    ...(isJsonObject(defaults) ? bindAll(defaults, 'defaultFields.', defaultTargets(settings), unmapped) : []),
    ...bindCustomList(draft, 'customFields', memberOf(object, 'customFields') ?? null, settings),
  ]);
  return draft.finish();
}

/** Members in order of appearance. Null in the table: handled elsewhere, or no news. */
function bindAll(
  object: JsonObject,
  prefix: string,
  targets: ReadonlyMap<string, Target | null>,
  unmapped: UnmappedNames,
): readonly BoundMember[] {
  return Object.entries(object).flatMap(([name, raw]): readonly BoundMember[] => {
    const target = targets.get(name);
    if (target === undefined && !serviceMembers.has(name)) unmapped.add(`${prefix}${name}`);
    return target === undefined || target === null ? [] : [{ field: `${prefix}${name}`, target, raw }];
  });
}

function contactTargets({ keyPrefix, onBlank }: Settings): ReadonlyMap<string, Target | null> {
  return new Map<string, Target | null>([
    ['externalId', { kind: 'key', prefix: keyPrefix }],
    ['source', { kind: 'source' }],
    ['sourceUrl', { kind: 'scalar', name: 'sourceUrl', onBlank }],
    ['defaultFields', null],
    ['customFields', null],
  ]);
}

function defaultTargets({ onBlank, country }: Settings): ReadonlyMap<string, Target> {
  return new Map<string, Target>([
    ...defaultFieldNames.map((name): [string, Target] => [name, { kind: 'scalar', name, onBlank }]),
    ['emails', { kind: 'items', list: 'emails', slot: 'emails', whole: true, label: 'email', country: null, onBlank }],
    ['phoneNumbers', { kind: 'items', list: 'phones', slot: 'phones', whole: true, label: 'phone', country, onBlank }],
  ]);
}
