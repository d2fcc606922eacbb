import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema, configMarkdown, defaultYaml } from '#src/config/document.ts';
import { configSchema } from '#src/config/schema.ts';
import { settings, variableOf } from '#src/config/settings.ts';

describe('the schema is the documentation', () => {
  it('config/default.yaml holds every key with its default and its description, as generated', async () => {
    await expect(defaultYaml()).toMatchFileSnapshot('../../config/default.yaml');
  });

  it('the generated defaults parse to the defaults of the schema, and no key is missing', () => {
    const values: unknown = parse(defaultYaml());
    expect(configSchema.parse(values)).toEqual(configSchema.parse({}));
    const keys = Object.entries(values ?? {}).flatMap(([section, group]) =>
      Object.keys(group ?? {}).map((name) => `${section}.${name}`),
    );
    expect(keys).toEqual(settings.map((setting) => setting.key));
  });

  it('every setting has a description of one plain sentence', () => {
    for (const setting of settings) expect(setting.description, setting.key).toMatch(/^[A-Z][^.]+\.$/);
  });

  it('no two settings share a variable', () => {
    const variables = settings.flatMap((setting) => setting.variables);
    expect(new Set(variables).size).toBe(variables.length);
    expect(variableOf('upsert', 'rowsPerBatch')).toBe('PATCHBAY_UPSERT_ROWS_PER_BATCH');
  });

  it('the JSON Schema has every key, its default and its description, and refuses others', () => {
    const schema = configJsonSchema();
    expect(schema).toMatchObject({
      additionalProperties: false,
      properties: {
        upsert: {
          additionalProperties: false,
          properties: { lease: { type: 'string', default: '45s', pattern: expect.any(String) } },
        },
        service: { properties: { apiKey: { type: 'null', default: null } } },
        guards: { properties: { updatesFloor: { type: 'integer', default: 10, minimum: 0 } } },
      },
    });
    const text = JSON.stringify(schema);
    for (const setting of settings) expect(text).toContain(JSON.stringify(setting.description).slice(1, -1));
  });

  it('the markdown table has a row per setting with key, variable, default and meaning', () => {
    const lines = configMarkdown().trimEnd().split('\n');
    expect(lines).toHaveLength(settings.length + 2);
    expect(lines).toContain(
      '| `upsert.lease` | `PATCHBAY_UPSERT_LEASE` | `45s` | How long a worker holds a contact before another may take it over. |',
    );
    for (const line of lines) expect(line.split(/(?<!\\)\|/)).toHaveLength(6);
  });
});
