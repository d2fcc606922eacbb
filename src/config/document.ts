/**
 * The configuration as text: its documentation, generated from the schema (`config/default.yaml`, the table of settings, the JSON
 * Schema), and the values in effect.
 *
 * Generated text is committed; a test fails where it differs from what the schema says.
 */
import { stringify } from 'yaml';
import { z } from 'zod';
import { settingTraits } from './forms.ts';
import type { Origin } from './layers.ts';
import type { LoadedConfig } from './load.ts';
import { configSections } from './schema.ts';
import { feedGroup, type Group, isWritten, type Setting, sections, settingsOf, type Written } from './settings.ts';

/** Stands for a feed's own name. */
const feedName = 'NAME';

/** `config/default.yaml`: every setting with its default, its meaning as a comment. */
export function defaultYaml(): string {
  const lines = [
    '# Every setting with its default. Generated from src/config/schema.ts: change it there, then run npm run docs.',
    '# Durations are written 500ms, 30s, 10m, 26h or 400d; percentages 30%.',
    '# Except for feeds, each setting may also be given in the environment, under the name in brackets.',
  ];
  for (const section of sections) {
    if (section.kind === 'setting') {
      lines.push('', ...settingLines(section, ''));
      continue;
    }
    lines.push('', `# ${section.description}`);
    if (section.kind === 'group') lines.push(`${section.name}:`, ...memberLines(section, 1));
    else {
      const feed = feedGroup(feedName);
      const example = [`${feedName}:`, ...memberLines(feed, 1)].map((line) => `#   ${line}`);
      lines.push('# They are set in the config file only. What a feed may hold, with its default:', ...example);
      lines.push(`${section.name}: {}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** What has no default, a limit of one feed, is named without its meaning: it is that of the limit of all. */
function memberLines(group: Group, depth: number): string[] {
  const indent = '  '.repeat(depth);
  return group.members.flatMap((member): string[] => {
    if (member.kind === 'setting') return settingLines(member, indent);
    const comment = `${indent}# ${member.description}`;
    if (group.path[0] !== 'feeds') return [comment, `${indent}${member.name}:`, ...memberLines(member, depth + 1)];
    const names = member.members.map(({ name }) => name).join(', ');
    return [`${comment} Any of ${names}.`, `${indent}${member.name}: {}`];
  });
}

function settingLines({ name, description, variables, defaultInput }: Setting, indent: string): string[] {
  const named = variables.length === 0 ? '' : ` (${variables.join(' or ')})`;
  return [`${indent}# ${description}${named}`, `${indent}${name}: ${writtenText(defaultInput)}`];
}

/** The table of `docs/configuration.md`: key, variable, default, meaning. The limits of one feed are one row. */
export function configMarkdown(): string {
  const rows = sections.flatMap((section) => {
    if (section.kind === 'setting') return [settingRow(section)];
    if (section.kind === 'group') return settingsOf(section).map(settingRow);
    return feedGroup(feedName).members.map((member) =>
      member.kind === 'setting' ? settingRow(member) : row(member.key, null, {}, member.description),
    );
  });
  return ['| key | environment | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function settingRow({ key, variables, defaultInput, description, range }: Setting): string {
  const bounds = range === null ? '' : ` From ${range.from} to ${range.to}.`;
  return row(key, variables[0] ?? null, defaultInput, `${description}${bounds}`);
}

function row(key: string, variable: string | null, input: Written | Record<string, never>, meaning: string): string {
  const environment = variable === null ? '–' : `\`${variable}\``;
  return `| \`${key}\` | ${environment} | \`${writtenText(input)}\` | ${meaning.replaceAll('|', '\\|')} |`;
}

/** The JSON Schema (2020-12) of a config file, for editors that check YAML. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(configSections, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const environmentOnly = zodSchema instanceof z.ZodType && settingTraits.get(zodSchema)?.environmentOnly === true;
      if (!environmentOnly) return;
      delete jsonSchema.anyOf;
      jsonSchema.type = 'null';
    },
  });
  return { ...schema, title: 'Patchbay configuration' };
}

function writtenText(value: Written | Record<string, never>): string {
  return stringify(value, { lineWidth: 0, collectionStyle: 'flow' }).trimEnd();
}

// The configuration in effect, with the origin of each value; secrets are masked.

const mask = '********';

/** YAML that loads to the same configuration but for what is masked. Ends with a line break. */
export function printConfig({ config, sources, configFile }: LoadedConfig): string {
  const lines = [`# Config file: ${configFile ?? 'none'}`];
  for (const section of sections) {
    if (section.kind === 'setting') lines.push(...valueLines(section, '', config, sources));
    else if (section.kind === 'group') lines.push(`${section.name}:`, ...groupLines(section, 1, config, sources));
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
    return valueLines(member, indent, config, sources);
  });
}

function valueLines(setting: Setting, indent: string, config: unknown, sources: Sources): string[] {
  const value = writtenIn(config, setting);
  if (value === undefined) return [];
  const text = stringify(value, { lineWidth: 0, collectionStyle: 'flow' });
  return [`${indent}${setting.name}: ${text.trimEnd()} # ${sources[setting.key]?.name ?? 'default'}`];
}

/** The value of a setting as it is written, with its secret masked; undefined where it has none, such as the own guards of most feeds. */
export function writtenIn(config: unknown, setting: Setting): Written | undefined {
  const value = valueAt(config, [...setting.path.slice(0, -1), setting.configName]);
  return isWritten(value) ? masked(setting, setting.write(value)) : undefined;
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
