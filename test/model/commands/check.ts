/** What must hold at the end of every story. Each breach is one sentence. */
import type { FieldPolicy } from '#src/contacts/policies.ts';
import { pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import type { Contact } from '#src/wire/contact.ts';
import { fieldBreaches } from './check-fields.ts';
import { keys } from './commands.ts';
import { type Fates, readFates } from './fates.ts';
import type { KeyModel, Model } from './model.ts';
import { limits, type World } from './world.ts';

export async function breachesOf(
  world: World,
  model: Model,
  policy: FieldPolicy = 'shared',
): Promise<readonly string[]> {
  const contacts = await world.contacts();
  const fates = await readFates(
    world.folders.reports,
    model.runs.map((run) => run.id),
  );
  const breaches = [...world.creates.breaches, ...strangers(contacts, model)];
  for (const run of model.runs) breaches.push(...accounting(await world.ledger.runs.get(run.id), run.rowCount));
  for (const [key, known] of model.keys) {
    const own = contacts.filter((contact) => contact.externalId === key);
    const note = (found: readonly string[]): void => void breaches.push(...found.map((text) => `${key}: ${text}`));
    note(presence(own, known, fates));
    note(deaths(known, fates, model));
  }
  breaches.push(...valueBreaches(world, model, contacts, fates, policy), ...(await leasesLeft(world)));
  return breaches;
}

/** What became of the values of each contact, by the rules, from the first event of its chronicle on. */
export function valueBreaches(
  world: World,
  model: Model,
  contacts: readonly Contact[],
  fates: Fates,
  policy: FieldPolicy = 'shared',
): readonly string[] {
  return [...model.keys].flatMap(([key, { deleted }]) => {
    const contact = contacts.find(({ externalId }) => externalId === key);
    // A contact that was made again after people deleted it starts anew: what they did to the first one is gone with it.
    if (contact === undefined || deleted !== 'no') return [];
    const own = [...fieldBreaches(world.chronicle.of(key), fates.of, policy), ...oddities(contact, model)];
    return [
      ...own.map((text) => `${key}: ${text}`),
      ...world.chronicle.breaches.filter((text) => text.startsWith(`${key}: `)),
    ];
  });
}

function strangers(contacts: readonly Contact[], model: Model): readonly string[] {
  const known: ReadonlySet<string | null> = new Set<string | null>(model.keys.keys());
  return contacts
    .filter((contact) => !known.has(contact.externalId))
    .map((contact) => `a contact that no file named: ${contact.externalId}`);
}

function accounting(run: RunRecord | null, rowCount: number): readonly string[] {
  if (run === null) return ['a run is lost'];
  const breaches: string[] = [];
  const { counts, fileName, state, reason } = run;
  if (state !== 'done' && state !== 'doneWithDead') breaches.push(`${fileName} ended as ${state} (${reason?.code})`);
  if (counts.rows !== rowCount) breaches.push(`${fileName} has ${rowCount} rows and counts ${counts.rows}`);
  if (pendingCount(counts) !== 0) breaches.push(`${fileName} ended with ${pendingCount(counts)} rows pending`);
  return breaches;
}

function presence(own: readonly Contact[], known: KeyModel, fates: Fates): readonly string[] {
  if (own.length > 1) return [`${own.length} contacts`];
  const { rows } = known;
  const gone = rows.filter((row) => fates.of(row).skipped === 'gone');
  if (known.deleted === 'known') return own.length === 0 ? [] : ['a person deleted it, and it is back'];
  if (known.deleted === 'unknown') return [];
  if (gone.length > 0) return ['a row was skipped as gone, and nobody deleted the contact'];
  const reached = rows.some((row) => fates.of(row).dead === null && fates.of(row).skipped === null);
  return reached && own.length === 0 ? ['no contact, although a row reached it'] : [];
}

/** A row may be given up only for doubts, which come only of faults, or for an edit that came in between. The newest row of all is never overtaken. */
function deaths({ rows }: KeyModel, fates: Fates, model: Model): readonly string[] {
  const breaches: string[] = [];
  const spoiltWrites = [...model.faults].some((spec) => /^(create|update|\*):(?!status=429)/.test(spec));
  const spoiltReads = [...model.faults].some((spec) => /^(list|get|\*):/.test(spec));
  for (const row of rows) {
    const { dead, skipped } = fates.of(row);
    const isOfDoubt = (dead === 'doubt' && spoiltWrites) || (dead === 'lookUpFails' && spoiltReads);
    const isOfRace = model.isRaced && (dead === 'refused400' || dead === 'customFieldRefused' || dead === 'notApplied');
    const legal = dead === null || isOfDoubt || isOfRace;
    if (!legal) breaches.push(`line ${row.line} of ${row.feed} died of ${dead}`);
    if (skipped === 'superseded' && row === rows.at(-1)) breaches.push('the newest row was skipped as superseded');
    if (skipped !== null && skipped !== 'superseded' && skipped !== 'gone')
      breaches.push(`line ${row.line} of ${row.feed} was skipped: ${skipped}`);
  }
  return breaches;
}

/** What no rule about a field says. */
function oddities({ externalId, source, defaultFields }: Contact, model: Model): readonly string[] {
  const breaches: string[] = [];
  if (![null, 'patchbay', 'crm', 'shop', 'public-api'].includes(source)) breaches.push(`the source is ${source}`);
  for (const items of [defaultFields.emails, defaultFields.phoneNumbers]) {
    const texts = items.map((item) => (item.value ?? '').toLowerCase());
    const twice = texts.filter((text, index) => texts.indexOf(text) < index);
    const isOurs = twice.some((text) => !(model.isRaced && model.addedByHand.has(`${externalId} ${text}`)));
    if (isOurs) breaches.push(`an item stands there twice: ${texts.join(', ')}`);
  }
  return breaches;
}

/** Leases end with the work. Only a death that nobody noticed leaves some, until their time is over. */
async function leasesLeft(world: World): Promise<readonly string[]> {
  if (world.unnoticedDeaths() > 0) await world.advance(limits.leaseMs);
  const clock = world.time.ofWorkers;
  const owner = 'elsewhere/0/0#check';
  const answers = await world.ledger.contacts.lease({
    feed: 'main',
    keys: keys.map((key) => ({ key, sequence: Number.MAX_SAFE_INTEGER })),
    owner,
    leaseMs: 1,
    nowMs: await world.ledger.nowMs(clock),
    isOwnerDead: world.isDead,
  });
  await world.ledger.contacts.release(owner, keys);
  return [...answers].flatMap(([key, { kind }]) => (kind === 'held' ? [`${key}: a lease was left behind`] : []));
}
