/** Metrics over a real ledger and a real service: files are imported by hand, and what Prometheus would read is parsed. */
import { onTestFinished } from 'vitest';
import { type MetricsOptions, openMetrics } from '#src/metrics/metrics.ts';
import { type BenchOptions, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

/** One sample of the text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricsBench extends RunsBench {
  text(): Promise<string>;
  samples(): Promise<readonly Sample[]>;
  /** The value of the one sample with that name and at least these labels; null where there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): Promise<number | null>;
}

interface Given extends BenchOptions {
  readonly metrics?: Partial<MetricsOptions>;
  readonly expectEveryMs?: Readonly<Record<string, number | null>>;
}

export async function openMetricsBench({
  metrics = {},
  expectEveryMs = {},
  ...given
}: Given = {}): Promise<MetricsBench> {
  const bench = await openRunsBench(given);
  const opened = openMetrics({ version: '0.1.0', installation: null, feeds: [], ...metrics });
  onTestFinished(() => opened.close());
  const text = (): Promise<string> =>
    opened.text({
      ledger: bench.ledger,
      nowMs: bench.world.clock.nowMs(),
      expectEveryMs,
      queueJobs: [{ job: 'upsert-batch', waiting: 3, active: 2 }],
      readiness: { ready: true, degraded: false },
      leads: true,
    });
  const samples = async (): Promise<readonly Sample[]> => samplesIn(await text());
  return {
    ...bench,
    text,
    samples,
    value: async (name, labels = {}) => {
      const found = (await samples()).filter(
        (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
      );
      if (found.length > 1) throw new Error(`${name} has ${found.length} samples with these labels`);
      return found[0]?.value ?? null;
    },
  };
}

/** Throws where a line is neither a comment nor a sample. */
export function samplesIn(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line): Sample[] => {
    if (line === '' || /^# (?:HELP|TYPE) \w+ .+$/.test(line)) return [];
    const [, name, labelText = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`not in the text format: ${line}`);
    const labels = [...labelText.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text] as const);
    return [{ name, labels: Object.fromEntries(labels), value: Number(value) }];
  });
}
