/** What random kills came to: the service's contacts and its log, the reports and the dead letters are held to the files. */
import type { Ground } from './ground.ts';
import type { LedgerView } from './ledger-view.ts';
import { checkContacts, type Person } from './people.ts';
import { readReports } from './reports.ts';

export interface Scene {
  readonly ground: Ground;
  readonly view: Pick<LedgerView, 'runs' | 'openLetters'>;
}

export interface TwoFiles {
  readonly first: readonly Person[];
  /** The newer one. */
  readonly second: readonly Person[];
}

/** It reads every key of a run anew, and ends with 0 where each has exactly one contact. */
export async function auditAll({ ground, view }: Scene, data: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { id } of view.runs()) {
    const { code, stdout, stderr } = await ground.start(['audit', '--json', id], data).ended();
    if (code !== 0) problems.push(`the audit of run ${id} ended with ${code}: ${stdout.slice(0, 500)}${stderr}`);
  }
  return problems;
}

/** Classes of dead letters that faults may cause: a create that stayed in doubt, a request that never passed. */
const legalClasses = ['doubt', 'exhausted'];

export interface Verdict {
  readonly requests: number;
  /** Contacts beyond the first of a key, and creates that only the service's 409 kept from being one. */
  readonly duplicates: number;
  /** Rows without an outcome, and keys without a contact that no dead letter explains. */
  readonly lost: number;
  readonly deadRows: number;
  /** The longest time without any write at the service, while there was work. */
  readonly longestGapMs: number;
  /** In words. */
  readonly violations: readonly string[];
}

/** @param data the folders that hold the reports. */
export async function judge(scene: Scene, data: readonly string[], files: TwoFiles): Promise<Verdict> {
  const { ground, view } = scene;
  const { first, second } = files;
  const { service } = ground;
  const violations: string[] = [];
  await service.setFaults([]);
  const letters = view.openLetters();
  for (const { key, code, ...letter } of letters) {
    if (!legalClasses.includes(letter.class)) violations.push(`${key} is dead: ${letter.class} ${code}`);
  }
  const expected = new Map([...first, ...second].map((person) => [person.key, person]));
  const explained = new Set(letters.flatMap(({ key }) => key ?? []));
  const contacts = checkContacts(await service.contacts(), [...expected.values()], explained);
  violations.push(...contacts.violations);
  const taken = service.writes.filter((write) => write.kind === 'taken').length;
  if (taken > 0) violations.push(`${taken} creates were sent for a key that has a contact`);

  const reports = data.flatMap(readReports);
  violations.push(...reports.flatMap((report) => report.flaws));
  const accounted = reports.reduce((sum, report) => sum + (report.flaws.length === 0 ? report.rows : 0), 0);
  const rows = first.length + second.length;
  if (accounted !== rows) violations.push(`the reports account for ${accounted} rows of ${rows}`);
  return {
    requests: service.requestCount(),
    duplicates: contacts.duplicates + taken,
    lost: Math.abs(rows - accounted) + contacts.missing.length,
    deadRows: reports.reduce((sum, report) => sum + report.deadCodes.length, 0),
    longestGapMs: longestGapMs(service.writes.map(({ atMs }) => atMs)),
    violations,
  };
}

function longestGapMs(instants: readonly number[]): number {
  let longest = 0;
  for (const [index, atMs] of instants.entries()) longest = Math.max(longest, atMs - (instants[index - 1] ?? atMs));
  return Math.round(longest);
}
