/** What must hold at the end of every story. Each breach is one sentence. */
import type { RunRecord } from '#src/ledger/run-record.ts';
import { pendingCount } from '#src/ledger/run-record.ts';
import type { Contact } from '#src/wire/contact.ts';
import { feeds, type Key, keys } from './commands.ts';
import { type Fates, readFates } from './fates.ts';
import { legalPhones, legalRoles, phonesByHand } from './legal-values.ts';
import { firstNameOf, isOfFeed, type KeyModel, type Model } from './model.ts';
import { limits, type World } from './world.ts';

export async function breachesOf(world: World, model: Model): Promise<readonly string[]> {
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
    const [contact] = own;
    // A contact that was made again after people deleted it starts anew: what they did to the first one is gone with it.
    if (contact === undefined || known.deleted !== 'no') continue;
    note(values(contact, known, fates));
    note(untouched(key, contact, known));
  }
  breaches.push(...(await leasesLeft(world)));
  return breaches;
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
  const rows = known.history.flatMap((entry) => (entry.kind === 'row' ? [entry] : []));
  const gone = rows.filter((row) => fates.of(row).skipped === 'gone');
  if (known.deleted === 'known') return own.length === 0 ? [] : ['a person deleted it, and it is back'];
  if (known.deleted === 'unknown') return [];
  if (gone.length > 0) return ['a row was skipped as gone, and nobody deleted the contact'];
  const reached = rows.some((row) => fates.of(row).dead === null && fates.of(row).skipped === null);
  return reached && own.length === 0 ? ['no contact, although a row reached it'] : [];
}

/** A row may be given up only for doubts, and doubts come only of faults. The newest row is never overtaken. */
function deaths(known: KeyModel, fates: Fates, model: Model): readonly string[] {
  const breaches: string[] = [];
  const spoiltWrites = [...model.faults].some((spec) => /^(create|update|\*):(?!status=429)/.test(spec));
  const spoiltReads = [...model.faults].some((spec) => /^(list|get|\*):/.test(spec));
  const rows = known.history.flatMap((entry) => (entry.kind === 'row' ? [entry] : []));
  for (const row of rows) {
    const { dead, skipped } = fates.of(row);
    const legal = dead === null || (dead === 'doubt' && spoiltWrites) || (dead === 'lookUpFails' && spoiltReads);
    if (!legal) breaches.push(`line ${row.line} died of ${dead}`);
    if (skipped === 'superseded' && row === rows.at(-1)) breaches.push('the newest row was skipped as superseded');
    if (skipped !== null && skipped !== 'superseded' && skipped !== 'gone')
      breaches.push(`line ${row.line} was skipped: ${skipped}`);
  }
  return breaches;
}

/** What files and people both write: the newest that was said, by whoever may say it. */
function values(contact: Contact, known: KeyModel, fates: Fates): readonly string[] {
  const { role, phoneNumbers } = contact.defaultFields;
  const roles = legalRoles(known, fates);
  const breaches = [...roles.breaches];
  if (!roles.legal.has(role ?? '')) breaches.push(`the role is ${role}, not ${[...roles.legal].join(' or ')}`);
  const phones = phoneNumbers.map((item) => item.value ?? '');
  for (const feed of feeds) {
    const { must, may } = legalPhones(known, fates, feed);
    const there = phones.filter((phone) => isOfFeed(feed, phone));
    for (const phone of must) if (!there.includes(phone)) breaches.push(`the phone ${phone} of ${feed} is missing`);
    for (const phone of there) if (!may.has(phone)) breaches.push(`the phone ${phone} of ${feed} should not be there`);
  }
  return breaches;
}

/** What only one side writes, and what nobody changes. */
function untouched(key: Key, contact: Contact, known: KeyModel): readonly string[] {
  const breaches: string[] = [];
  const { firstName, phoneNumbers } = contact.defaultFields;
  if (firstName !== firstNameOf(key)) breaches.push(`the first name is ${firstName}`);
  if (contact.source !== 'patchbay' && contact.source !== 'crm') breaches.push(`the source is ${contact.source}`);
  const phones = phoneNumbers.map((item) => item.value ?? '');
  if (new Set(phones).size < phones.length) breaches.push(`a phone stands there twice: ${phones.join(', ')}`);
  const byHand = phonesByHand(known);
  const others = phones.filter((phone) => !feeds.some((feed) => isOfFeed(feed, phone)));
  if (others.toSorted().join() !== [...byHand].toSorted().join())
    breaches.push(`people's phones are ${others.join(', ')}, not ${[...byHand].join(', ')}`);
  return breaches;
}

/** Leases end with the work. Only a death that nobody noticed leaves some, until their time is over. */
async function leasesLeft(world: World): Promise<readonly string[]> {
  if (world.unnoticedDeaths() > 0) await world.advance(limits.leaseMs);
  const clock = world.time.ofWorkers;
  const owner = 'elsewhere/0/0#check';
  const answers = await world.ledger.contacts.lease({
    keys: keys.map((key) => ({ key, sequence: Number.MAX_SAFE_INTEGER })),
    owner,
    leaseMs: 1,
    nowMonotonicMs: clock.monotonicMs(),
    bootId: clock.bootId,
    horizonMs: 1,
    isOwnerDead: world.isDead,
  });
  await world.ledger.contacts.release(owner, keys);
  return [...answers].flatMap(([key, { kind }]) => (kind === 'held' ? [`${key}: a lease was left behind`] : []));
}
