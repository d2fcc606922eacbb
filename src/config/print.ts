/** The configuration in effect as YAML, with the origin of each value; secrets are masked. */
import { stringify } from 'yaml';
import type { Origin } from './given-value.ts';
import type { LoadedConfig } from './load.ts';
import { feedGroup, type Group, isWritten, type Setting, sections, type Written } from './settings.ts';

const mask = '********';

/** YAML that loads to the same configuration but for what is masked. Ends with a line break. */
export function printConfig({ config, sources, configFile }: LoadedConfig): string {
  const lines = [`# Config file: ${configFile ?? 'none'}`];
  for (const section of sections) {
    if (section.kind === 'group') lines.push(`${section.name}:`, ...groupLines(section, 1, config, sources));
    else lines.push(...feedLines(config.feeds, config, sources));
  }
  return `${lines.join('\n')}\n`;
}

function feedLines(feeds: LoadedConfig['config']['feeds'], config: unknown, sources: Sources): string[] {
  const names = Object.keys(feeds);
  if (names.length === 0) return ['feeds: {} # default'];
  return [
    'feeds:',
    ...names.flatMap((name) => [
      `  ${stringify(name).trimEnd()}: # ${sources[`feeds.${name}`]?.name ?? 'default'}`,
      ...groupLines(feedGroup(name), 2, config, sources),
    ]),
  ];
}

type Sources = Readonly<Record<string, Origin>>;

/** What has no value by default, such as a feed's own guards, is shown only where it is set. */
function groupLines(group: Group, depth: number, config: unknown, sources: Sources): string[] {
  const indent = '  '.repeat(depth);
  return group.members.flatMap((member): string[] => {
    if (member.kind === 'group') {
      const inner = groupLines(member, depth + 1, config, sources);
      return inner.length === 0 ? [] : [`${indent}${member.name}:`, ...inner];
    }
    const value = valueAt(config, member.path);
    if (!isWritten(value)) return [];
    const shown = stringify(masked(member, member.write(value)), { lineWidth: 0, collectionStyle: 'flow' });
    return [`${indent}${member.name}: ${shown.trimEnd()} # ${sources[member.key]?.name ?? 'default'}`];
  });
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null ? Object.entries(at).find(([key]) => key === name)?.[1] : null,
    tree,
  );
}

function masked(setting: Setting, value: Written): Written {
  const { secret } = setting.traits;
  if (value === null || secret === undefined || secret === 'unlessRight') return value;
  if (secret === 'whole' || typeof value !== 'string') return mask;
  if (!URL.canParse(value) || !/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return secret === 'query' ? value : mask;
  const url = new URL(value);
  if (secret === 'path') return url.pathname + url.search + url.hash === '/' ? url.origin : `${url.origin}/${mask}`;
  if (secret === 'query') {
    const at = value.search(/[?#]/);
    return at === -1 ? value : `${value.slice(0, at)}?${mask}`;
  }
  if (url.password !== '') url.password = mask;
  else if (url.username !== '') url.username = mask; // some servers take a lone user name as the password
  return url.href;
}
