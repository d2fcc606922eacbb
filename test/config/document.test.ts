import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema, configMarkdown, defaultYaml } from '#src/config/document.ts';
import { configSchema } from '#src/config/schema.ts';
import { feedGroup, settings, settingsOf, variableOf } from '#src/config/settings.ts';

const hostsMeaning = settings.find((setting) => setting.key === 'download.hosts')?.description ?? '';

/** The keys of all leaves, in order; an empty group has none. */
function keysOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path.join('.')];
  return Object.entries(value).flatMap(([name, inner]) => keysOf(inner, [...path, name]));
}

describe('the schema is the documentation', () => {
  it('config/default.yaml holds every key with its default and its description, as generated', async () => {
    await expect(defaultYaml()).toMatchFileSnapshot('../../config/default.yaml');
  });

  it('the generated defaults parse to the defaults of the schema, and no key is missing', () => {
    const values: unknown = parse(defaultYaml());
    expect(configSchema.parse(values)).toEqual(configSchema.parse({}));
    expect(keysOf(values)).toEqual(settings.map((setting) => setting.key));
  });

  it('what config/default.yaml says of a feed is a feed with the defaults', () => {
    const commented = defaultYaml()
      .split('\n')
      .filter((line) => line.startsWith('#   '))
      .map((line) => line.slice(2));
    const feeds: unknown = parse(['feeds:', ...commented].join('\n'));
    expect(configSchema.parse(feeds).feeds).toEqual(configSchema.parse({ feeds: { NAME: {} } }).feeds);
  });

  it('every setting has a description of one plain sentence', () => {
    const all = [...settings, ...settingsOf(feedGroup('crm'))];
    for (const setting of all) expect(setting.description, setting.key).toMatch(/^[A-Z][^.]+\.$/);
  });

  it('no two settings share a variable', () => {
    const variables = settings.flatMap((setting) => setting.variables);
    expect(new Set(variables).size).toBe(variables.length);
    expect(variableOf('upsert', 'rowsPerBatch')).toBe('PATCHBAY_UPSERT_ROWS_PER_BATCH');
    expect(variableOf('snapshots', 'phoneNumbers', 'every')).toBe('PATCHBAY_SNAPSHOTS_PHONE_NUMBERS_EVERY');
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
        feeds: {
          default: {},
          additionalProperties: {
            additionalProperties: false,
            properties: {
              kind: { enum: ['full', 'delta'], default: 'full' },
              guards: { additionalProperties: false, properties: { rowsMin: { type: 'string' } } },
            },
          },
        },
        snapshots: { properties: { phoneNumbers: { properties: { keep: { default: '400d' } } } } },
        notify: { properties: { secret: { type: 'null' } } },
      },
    });
    const text = JSON.stringify(schema);
    const all = [...settings, ...settingsOf(feedGroup('crm'))];
    for (const setting of all) expect(text).toContain(JSON.stringify(setting.description).slice(1, -1));
  });

  it('the markdown table has a row per setting with key, variable, default and meaning', () => {
    const lines = configMarkdown().trimEnd().split('\n');
    expect(lines).toHaveLength(settings.length + feedGroup('crm').members.length + 2);
    expect(lines).toContain(
      '| `feeds.NAME.every` | – | `null` | How often it is taken, instead of at. From 10s to 366d. |',
    );
    expect(lines).toContain('| `download.hosts` | `PATCHBAY_DOWNLOAD_HOSTS` | `[]` | '.concat(hostsMeaning, ' |'));
    expect(lines).toContain(
      '| `upsert.lease` | `PATCHBAY_UPSERT_LEASE` | `45s` | How long a worker holds a contact before another may take it over. From 20s to 10m. |',
    );
    for (const line of lines) expect(line.split(/(?<!\\)\|/)).toHaveLength(6);
  });
});
