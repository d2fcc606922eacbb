/**
 * The schema as text for people and editors: `config/default.yaml`, the table of `docs/configuration.md`, the JSON Schema.
 *
 * Generated text is committed; a test fails where it differs from what the schema says (house style, point 14).
 */
import { stringify } from 'yaml';
import { z } from 'zod';
import { configSchema } from './schema.ts';
import { feedGroup, type Group, type Setting, sections, settingsOf, type Written } from './settings.ts';
import { settingTraits } from './traits.ts';

/** Stands for a feed's own name. */
const feedName = 'NAME';

/** `config/default.yaml`: every setting with its default, its meaning as a comment. */
export function defaultYaml(): string {
  const lines = [
    '# Every setting with its default. Generated from src/config/schema.ts: change it there, then run npm run docs.',
    '# Durations are written 500ms, 30s, 10m, 26h or 400d; percentages 30%.',
    '# Each setting but those of feeds may also be given in the environment, under the name in brackets.',
  ];
  for (const section of sections) {
    lines.push('', `# ${section.description}`);
    if (section.kind === 'group') lines.push(`${section.name}:`, ...memberLines(section, 1));
    else {
      const feed = feedGroup(feedName);
      const example = [`${feedName}:`, ...memberLines(feed, 1)].map((line) => `#   ${line}`);
      lines.push('# They stand in the config file only. What a feed may hold, with its default:', ...example);
      lines.push(`${section.name}: {}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** What has no default, a limit of one feed, is named without its meaning: it is that of the limit of all. */
function memberLines(group: Group, depth: number): string[] {
  const indent = '  '.repeat(depth);
  return group.members.flatMap((member): string[] => {
    if (member.kind === 'setting') {
      const variables = member.variables.length === 0 ? '' : ` (${member.variables.join(' or ')})`;
      return [
        `${indent}# ${member.description}${variables}`,
        `${indent}${member.name}: ${writtenText(member.defaultInput)}`,
      ];
    }
    const comment = `${indent}# ${member.description}`;
    if (group.path[0] !== 'feeds') return [comment, `${indent}${member.name}:`, ...memberLines(member, depth + 1)];
    const names = member.members.map(({ name }) => name).join(', ');
    return [`${comment} Any of ${names}.`, `${indent}${member.name}: {}`];
  });
}

/** The table of `docs/configuration.md`: key, variable, default, meaning. The limits of one feed are one row. */
export function configMarkdown(): string {
  const rows = sections.flatMap((section) => {
    if (section.kind === 'group') return settingsOf(section).map(settingRow);
    return feedGroup(feedName).members.map((member) =>
      member.kind === 'setting' ? settingRow(member) : row(member.key, null, {}, member.description),
    );
  });
  return ['| key | environment | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function settingRow({ key, variables, defaultInput, description }: Setting): string {
  return row(key, variables[0] ?? null, defaultInput, description);
}

function row(key: string, variable: string | null, input: Written | Record<string, never>, meaning: string): string {
  const environment = variable === null ? '–' : `\`${variable}\``;
  return `| \`${key}\` | ${environment} | \`${writtenText(input)}\` | ${meaning.replaceAll('|', '\\|')} |`;
}

/** The JSON Schema (2020-12) of a config file, for editors that check YAML. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(configSchema, {
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
