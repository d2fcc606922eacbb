/** The dashboard of Grafana and the alert rules of Prometheus ask for metrics and labels that there are. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { type ExposedMetric, exposedMetrics } from '#test/metrics/support/exposed-metrics.ts';

const read = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

const dashboard = z
  .object({
    uid: z.literal('patchbay'),
    schemaVersion: z.number().int(),
    templating: z.object({ list: z.array(z.object({ name: z.string(), query: z.unknown() })) }),
    panels: z.array(
      z.object({
        id: z.number().int(),
        type: z.string(),
        title: z.string(),
        description: z.string().optional(),
        targets: z.array(z.object({ expr: z.string(), refId: z.string() })).default([]),
      }),
    ),
  })
  .parse(JSON.parse(read('grafana/patchbay.json')));

const alerts = z
  .strictObject({
    groups: z.array(
      z.strictObject({
        name: z.string(),
        rules: z.array(
          z.strictObject({
            alert: z.string().regex(/^Patchbay[A-Z]\w+$/),
            expr: z.string(),
            for: z
              .string()
              .regex(/^\d+m$/)
              .optional(),
            labels: z.strictObject({ severity: z.enum(['info', 'warning', 'critical']) }),
            annotations: z.strictObject({ summary: z.string(), description: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read('prometheus/alerts.yaml')));
const rules = alerts.groups.flatMap((group) => group.rules);

/** Set by Prometheus itself, by `PATCHBAY_NAME`, or of a histogram. */
const commonLabels = ['installation', 'instance', 'le'];

let exposed: ReadonlyMap<string, ExposedMetric> = new Map();

/** Once, by the first test: what is exposed does not change. */
async function readExposed(): Promise<void> {
  if (exposed.size === 0) exposed = new Map((await exposedMetrics()).map((metric) => [metric.name, metric]));
}

/** The metrics that an expression reads, each with the labels that it selects by, and the values it asks for. */
function metricsIn(expression: string) {
  return [...expression.matchAll(/\b((?:patchbay|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', by = '']) => {
      const selectors = [...by.matchAll(/(\w+)(=~|=)"([^"]*)"/g)].map(([, label = '', how, value = '']) => ({
        label,
        how,
        value,
      }));
      const isPart = !exposed.has(name);
      return { name: isPart ? name.replace(/_(?:bucket|sum|count)$/, '') : name, isPart, selectors };
    },
  );
}

function expectToWork(expression: string): void {
  const metrics = metricsIn(expression);
  expect(metrics.length, expression).toBeGreaterThan(0);
  for (const { name, isPart, selectors } of metrics) {
    const metric = exposed.get(name);
    expect(metric, `${name} in ${expression}`).toBeDefined();
    expect(metric?.type === 'histogram', `${name} in ${expression}`).toBe(isPart);
    for (const { label } of selectors)
      expect([...(metric?.labels ?? []), ...commonLabels], expression).toContain(label);
  }
  const labels = metrics.flatMap(({ name }) => exposed.get(name)?.labels ?? []);
  for (const [, list = ''] of expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g))
    for (const label of list.split(', ')) expect([...labels, ...commonLabels], expression).toContain(label);
  // A counter is read as a rate, a gauge as it is.
  for (const [, name = ''] of expression.matchAll(/\b(patchbay_\w+_total)\b/g))
    expect(expression, name).toMatch(new RegExp(`(?:rate|increase)\\(${name}`));
}

describe('The dashboard', () => {
  it('shows metrics that there are, by labels that they have', async () => {
    await readExposed();
    const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(20);
    for (const expression of expressions) expectToWork(expression);
  });

  it('says of each panel what it shows, and gives each an id of its own', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { type, title, description } of dashboard.panels) {
      if (type !== 'row') expect(description, title).toMatch(/\.$/);
    }
  });

  it('can be narrowed to one installation, in each panel', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'installation']);
    for (const { targets } of dashboard.panels)
      for (const { expr } of targets) expect(expr).toContain('installation=~"$installation"');
  });

  it('leaves no metric of Patchbay out, but for those that another one says better', async () => {
    await readExposed();
    const shown = new Set(
      dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr))).map(({ name }) => name),
    );
    const left = [...exposed.keys()].filter((name) => name.startsWith('patchbay_') && !shown.has(name));
    expect(left).toEqual([
      'patchbay_build_info',
      'patchbay_degraded',
      // An alert asks for it.
      'patchbay_leads',
      'patchbay_last_run_finished_timestamp_seconds',
      'patchbay_audits_waiting',
    ]);
  });
});

describe('The alert rules', () => {
  it('ask for metrics that there are, by labels that they have', async () => {
    await readExposed();
    for (const { expr } of rules) expectToWork(expr);
  });

  it('have one name each, and say in a sentence what is wrong and where to look', () => {
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    for (const { alert, annotations } of rules) expect(annotations.description, alert).toMatch(/\.$/);
  });

  it('name states that runs and notices have', async () => {
    await readExposed();
    const stateOf = (name: string) => exposed.get(name)?.seen.state ?? [];
    for (const { expr } of rules)
      for (const { name, selectors } of metricsIn(expr))
        for (const { label, how, value } of selectors)
          if (label === 'state' && how === '=') expect(stateOf(name), expr).toContain(value);
  });
});
