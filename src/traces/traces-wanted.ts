/**
 * Whether traces are exported, by the standard `OTEL_*` variables. Without one that asks for them nothing of OpenTelemetry is loaded.
 *
 * Asked for: `OTEL_TRACES_EXPORTER=otlp`, or an endpoint. `OTEL_SDK_DISABLED=true` and `OTEL_TRACES_EXPORTER=none` turn all off.
 */

type Environment = Readonly<Record<string, string | undefined>>;

export interface TracesChoice {
  readonly wanted: boolean;
  /** What of the variables does not work, in one sentence each. */
  readonly warnings: readonly string[];
}

export function chooseTraces(env: Environment): TracesChoice {
  const of = (name: string): string => env[name]?.trim() ?? '';
  if (of('OTEL_SDK_DISABLED').toLowerCase() === 'true') return off;
  const exporter = of('OTEL_TRACES_EXPORTER').toLowerCase();
  if (exporter === 'none') return off;
  const endpoint = of('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || of('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (exporter === '' && endpoint === '') return off;
  if (exporter !== '' && exporter !== 'otlp') {
    return refused(`OTEL_TRACES_EXPORTER: there is no exporter ${exporter}; use otlp or none. No traces are exported`);
  }
  const protocol = of('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || of('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc') {
    return refused(
      'OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not available; use http/json and the port for HTTP, usually 4318. No traces are exported',
    );
  }
  const isOther = protocol !== '' && protocol !== 'http/json';
  const warnings = isOther ? [`OTEL_EXPORTER_OTLP_PROTOCOL: ${protocol} is not available; traces go as http/json`] : [];
  return { wanted: true, warnings: [...warnings, ...samplerWarnings(of('OTEL_TRACES_SAMPLER'))] };
}

const off: TracesChoice = { wanted: false, warnings: [] };

function refused(warning: string): TracesChoice {
  return { wanted: false, warnings: [warning] };
}

/** Which share of the runs is traced, from 0 to 1. */
export function shareOfRuns(env: Environment): number {
  switch (samplerOf(env.OTEL_TRACES_SAMPLER ?? '')) {
    case 'always_off':
      return 0;
    case 'traceidratio': {
      const share = Number(env.OTEL_TRACES_SAMPLER_ARG ?? '1');
      return share >= 0 && share <= 1 ? share : 1;
    }
    default:
      return 1;
  }
}

const samplers: readonly string[] = ['always_on', 'always_off', 'traceidratio'];

/** A run is always the root of its trace: what a sampler does for spans with a parent elsewhere makes no difference. */
function samplerOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^parentbased_/, '');
}

function samplerWarnings(sampler: string): readonly string[] {
  if (sampler === '' || samplers.includes(samplerOf(sampler))) return [];
  return [`OTEL_TRACES_SAMPLER: there is no sampler ${sampler}; all runs are traced`];
}
