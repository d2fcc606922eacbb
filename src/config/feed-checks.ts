/** Checks of feeds and of schedules over several of their settings, and of files that they name. */
import { access } from 'node:fs/promises';
import { cronProblem } from './cron-problem.ts';
import type { Origin } from './given-value.ts';
import { isUrl } from './is-url.ts';
import type { Config, FeedConfig } from './schema.ts';
import { settings } from './settings.ts';
import { sourceProblem } from './source-label.ts';

type Sources = Readonly<Record<string, Origin>>;

/** Whether what stands in `mapping` is the name of one, not a file: no folder, no ending of YAML. */
export function isMappingName(mapping: string): boolean {
  return !/[/\\]|\.ya?ml$/i.test(mapping);
}

/** What is wrong with the feeds, one sentence each; `sources` names the origin of each setting by its key. */
export async function feedProblems(config: Config, sources: Sources): Promise<string[]> {
  const problems: string[] = [];
  const seen = new Map<string, string>();
  for (const [name, feed] of Object.entries(config.feeds)) {
    const key = `feeds.${name}`;
    const same = seen.get(name.toLowerCase());
    if (same !== undefined) {
      problems.push(
        `${placeOf(sources, key)}: ${key} and feeds.${same} differ only in case, and so would their folders`,
      );
    }
    seen.set(name.toLowerCase(), name);
    problems.push(...takeProblems(key, feed, config, sources));
    problems.push(...(await scheduleProblems(key, feed, sources)));
    problems.push(...(await mappingProblems(key, feed, sources)));
    const reserved = feed.source === null ? sourceProblem(name) : null;
    if (reserved !== null) {
      const hint = 'give the feed another name, or a label of its own with source';
      problems.push(
        `${placeOf(sources, key)}: the name ${name} would be the source label, which must be ${reserved}; ${hint}`,
      );
    }
  }
  return problems;
}

interface Rule {
  readonly at: string | null;
  readonly every: number | null;
  readonly zone: string | null;
}

/** What is wrong with when something is due. `key` is that of the group that holds `at`, `every` and `zone`. */
export async function scheduleProblems(key: string, rule: Rule, sources: Sources): Promise<string[]> {
  const problems: string[] = [];
  const { at, every, zone } = rule;
  if (at !== null && every !== null) {
    const other = placeOf(sources, `${key}.every`);
    problems.push(
      `${placeOf(sources, `${key}.at`)}: ${key} has both at and every (${other}); only one can say when it is due`,
    );
  }
  if (at === null && zone !== null) {
    const reason = every === null ? 'there is no at' : 'every has no time of day';
    problems.push(`${placeOf(sources, `${key}.zone`)}: ${key}.zone says in which time zone at is read, and ${reason}`);
  }
  const wrong = at === null ? null : await cronProblem(at);
  if (wrong !== null) problems.push(`${placeOf(sources, `${key}.at`)}: ${key}.at: ${wrong}`);
  return problems;
}

function takeProblems(key: string, feed: FeedConfig, config: Config, sources: Sources): string[] {
  const problems: string[] = [];
  const { take, at, every, authorization } = feed;
  const scheduled = at !== null ? 'at' : 'every';
  if (take === null && (at !== null || every !== null)) {
    problems.push(
      `${placeOf(sources, `${key}.${scheduled}`)}: ${key} has ${scheduled} and no take: a schedule needs something to take, a path, a glob or an https URL`,
    );
  }
  if (take !== null && /^http:/i.test(take) && !config.download.privateAddresses) {
    problems.push(
      `${placeOf(sources, `${key}.take`)}: ${key}.take must be an https URL; plain http needs download.privateAddresses`,
    );
  }
  if (authorization === null) return problems;
  const place = placeOf(sources, `${key}.authorization`);
  if (take === null || !isUrl(take)) {
    problems.push(`${place}: ${key}.authorization is sent to a URL, and ${key}.take is none`);
  }
  if (settings.some((setting) => setting.variables.includes(authorization))) {
    problems.push(
      `${place}: ${key}.authorization names ${authorization}, a setting of Patchbay, which is never sent elsewhere; use another variable`,
    );
  }
  return problems;
}

/** Whether a mapping of that name is there is looked at where mappings are. */
async function mappingProblems(key: string, { mapping }: FeedConfig, sources: Sources): Promise<string[]> {
  if (mapping === null || isMappingName(mapping)) return [];
  return access(mapping).then(
    () => [],
    () => [`${placeOf(sources, `${key}.mapping`)}: ${key}.mapping: there is no file ${mapping}`],
  );
}

function placeOf(sources: Sources, key: string): string {
  return sources[key]?.name ?? key;
}
