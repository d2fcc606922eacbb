/** All metrics that a process exposes, after work in which each of them had something to tell. */
import { publishFact } from '#src/telemetry.ts';
import { csv } from '#test/runs/support/runs-bench.ts';
import { openMetricsBench } from './metrics-bench.ts';

export interface ExposedMetric {
  /** Without the endings of a histogram's samples. */
  readonly name: string;
  readonly type: string;
  /** Sorted; without a histogram's `le`. */
  readonly labels: readonly string[];
  /** Values of each label that were seen. */
  readonly seen: Readonly<Record<string, readonly string[]>>;
}

export async function exposedMetrics(): Promise<readonly ExposedMetric[]> {
  const bench = await openMetricsBench({ expectEveryMs: { main: 3_600_000 } });
  await bench.import('people.csv', csv(['c-1,Ada,Engineer', ',nobody,x']));
  publishFact('paused', { code: 'keyRefused', scope: 'all' });
  const types = [...(await bench.text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  const samples = await bench.samples();
  return types.map(([, name = '', type = '']) => {
    const own = type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
    const seen = new Map<string, Set<string>>();
    for (const { labels } of samples.filter((one) => own.includes(one.name)))
      for (const [label, value] of Object.entries(labels)) seen.set(label, (seen.get(label) ?? new Set()).add(value));
    seen.delete('le');
    const byLabel = [...seen].map(([label, values]) => [label, [...values].toSorted()] as const);
    return { name, type, labels: [...seen.keys()].toSorted(), seen: Object.fromEntries(byLabel) };
  });
}
