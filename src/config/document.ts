/**
 * The schema as text for people and editors: `config/default.yaml`, the README's table, the JSON Schema.
 *
 * Generated text is committed; a test fails where it differs from what the schema says (house style, point 14).
 */
import { stringify } from 'yaml';
import { z } from 'zod';
import { configSchema } from './schema.ts';
import { type Scalar, sections, settings } from './settings.ts';
import { settingTraits } from './traits.ts';

/** `config/default.yaml`: every setting with its default, its meaning as a comment. */
export function defaultYaml(): string {
  const lines = [
    '# Every setting with its default. Generated from src/config/schema.ts: change it there, then run',
    '#   npx vitest run test/config/document.test.ts --update',
    '# Durations are written 500ms, 30s, 10m, 26h or 400d; percentages 30%.',
    '# Each setting may also be given in the environment, under the name in brackets.',
  ];
  for (const section of sections) {
    lines.push('', `# ${section.description}`, `${section.name}:`);
    for (const setting of section.settings) {
      lines.push(`  # ${setting.description} (${setting.variables.join(' or ')})`);
      lines.push(`  ${setting.name}: ${scalarText(setting.defaultInput)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** A markdown table for the README: key, variable, default, meaning. */
export function configMarkdown(): string {
  const rows = settings.map((setting) => {
    const cells = [
      `\`${setting.key}\``,
      `\`${setting.variables[0]}\``,
      `\`${scalarText(setting.defaultInput)}\``,
      setting.description.replaceAll('|', '\\|'),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| key | environment | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
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

function scalarText(value: Scalar): string {
  return stringify(value, { lineWidth: 0 }).trimEnd();
}
