/** What the log says of a trace collector that is away (`docs/operations.md`, "Traces"). */
import { expect, it } from 'vitest';
import { createLogger } from '#src/log.ts';
import { watchedExporter } from '#src/traces/watched-exporter.ts';

it('a collector that takes no spans is told once, and again when it takes them', () => {
  const lines: string[] = [];
  const write = (line: string): void => {
    const { level, reason, msg } = JSON.parse(line);
    lines.push([level, msg, reason].join(' '));
  };
  const failure = { code: 1, error: new Error('connect ECONNREFUSED') };
  const results = [{ code: 0 }, failure, failure, { code: 0 }, { code: 0 }, failure];
  const told: number[] = [];
  const left = results.values();
  const exporter = watchedExporter(
    { export: (_spans, tell) => tell(left.next().value ?? failure), shutdown: async () => undefined },
    createLogger({ level: 'info', stream: { write } }),
  );
  for (const _ of results) exporter.export([], ({ code }) => told.push(code));
  expect(told).toEqual(results.map(({ code }) => code));
  const away = 'warn the trace collector takes no spans; they are lost until it does connect ECONNREFUSED';
  expect(lines).toEqual([away, 'info the trace collector takes spans again ', away]);
  expect(exporter.isAway()).toBe(true);
});
