/**
 * What a run would take away that its feed never said: values that people or other feeds put into contacts. Only a list with
 * `items: all` and a field with `policy: source` lose such values, and only the service tells which they are. So the rows concerned
 * are planned before the guards decide (`docs/rules.md`, "Guards").
 *
 * Rows of contacts that the ledger does not know are not looked at: a guard of its own watches for them while the run is applied.
 */
import type { Said } from '#src/contacts/base.ts';
import { customFieldName, type DesiredContact, itemIdentity, scalarNames } from '#src/contacts/desired.ts';
import { itemOf, listOf } from '#src/contacts/items.ts';
import { customKeyOf } from '#src/contacts/merge.ts';
import type { Change } from '#src/contacts/outcome.ts';
import type { PlannedContact } from '#src/contacts/planned.ts';
import { type Policies, policyOf } from '#src/contacts/policies.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RequestTotals, RunRecord } from '#src/ledger/runs.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { policiesOf } from '#src/mapping/policies-of.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { planStagedPages } from '#src/upsert/plan-records.ts';
import { noOthersValues, type OthersValues } from './guards.ts';

export interface OthersValuesParts {
  readonly ledger: Ledger;
  readonly upsert: UpsertParts;
}

/**
 * Counts them in the staged rows of a run, with one look-up for each 20 contacts concerned.
 * @returns null if the run was cancelled meanwhile.
 * @throws as reads do (`workspace/port.ts`); the signal's reason.
 */
export async function countOthersValues(
  { ledger, upsert }: OthersValuesParts,
  run: RunRecord,
  signal: AbortSignal,
): Promise<OthersValues | null> {
  const takes = whatIsTaken(run, upsert);
  if (takes === null) return noOthersValues;
  const requests = new Map<keyof RequestTotals, number>();
  const onRequest = (kind: keyof RequestTotals): void => void requests.set(kind, (requests.get(kind) ?? 0) + 1);
  const choose = async (records: readonly StagedRecord[]): Promise<readonly StagedRecord[]> => {
    const concerned = records.filter(({ desired }) => takes(desired));
    const contacts = await ledger.contacts.get(concerned.map(({ key }) => key));
    return concerned.filter(({ key }) => (contacts.get(key)?.contactId ?? null) !== null);
  };
  const parts = { ...upsert, ledger };
  const options = { signal, onRequest };
  let [valueCount, contactCount] = [0, 0];
  for await (const page of planStagedPages(parts, run, choose, options)) {
    const planned = page.flatMap((one) => (one.is === 'planned' && one.outcome === 'updated' ? [one.contact] : []));
    const said = await ledger.runs.saidOf(
      run.feed,
      planned.map(({ key }) => key),
    );
    for (const contact of planned) {
      const known = said.get(contact.key);
      valueCount += othersIn(contact, known?.said ?? null);
      if (known === undefined) contactCount += 1;
    }
    const totals = Object.fromEntries(requests);
    requests.clear();
    await ledger.runs.record(run.id, { requests: totals });
    if ((await ledger.runs.get(run.id))?.state !== 'staging') return null;
  }
  return { valueCount, contactCount };
}

/** Whether a row may take such values away; null where no row of the run may. */
function whatIsTaken(
  { mapping, options }: RunRecord,
  { limits: { itemRemoval } }: UpsertParts,
): ((desired: DesiredContact) => boolean) | null {
  if (options.accept || options.createOnly) return null;
  const policies = policiesOf(mapping);
  const lists = (['emails', 'phones'] as const).filter((list) => policies[list] === 'all' && itemRemoval !== 'none');
  const isFileOwned = [...policies.fields.values()].includes('source');
  if (lists.length === 0 && !isFileOwned) return null;
  return (desired) =>
    lists.some((list) => desired[list].length > 0) || (isFileOwned && clearsSource(desired, policies));
}

function clearsSource({ scalars, customFields }: DesiredContact, policies: Policies): boolean {
  const isSource = (field: Parameters<typeof policyOf>[1]) => policyOf(policies, field) === 'source';
  return (
    scalarNames.some((name) => scalars[name] === null && isSource(name)) ||
    customFields.some(({ key, value }) => value === null && isSource(customFieldName(key)))
  );
}

/** What the feed itself said is counted where its rows are compared (`countClears`). */
function othersIn({ changes }: PlannedContact, said: Said | null): number {
  return changes.filter((change) => (change.why === 'removed' || change.why === 'cleared') && !isSaid(change, said))
    .length;
}

function isSaid({ field }: Change, said: Said | null): boolean {
  if (said === null) return false;
  const item = itemOf(field);
  if (item !== null) {
    const { kind, identity } = item;
    return said[listOf[kind]].some(({ items }) => items.some(({ value }) => itemIdentity(kind, value) === identity));
  }
  const key = customKeyOf(field);
  if (key !== null) return said.customFields.some((one) => one.key === key && one.value !== null);
  const name = scalarNames.find((one) => one === field);
  return name !== undefined && (said.scalars[name] ?? null) !== null;
}
