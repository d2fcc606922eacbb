/** When traces are exported at all, and which runs. */
import { describe, expect, it } from 'vitest';
import { chooseTraces, shareOfRuns } from '#src/traces/traces-wanted.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('Traces are exported', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['not by default', {}, false],
    ['with an endpoint', endpoint, true],
    ['with an endpoint for traces alone', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, true],
    ['when the exporter is named', { OTEL_TRACES_EXPORTER: 'otlp' }, true],
    ['not without an exporter', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
    ['not when all is disabled', { ...endpoint, OTEL_SDK_DISABLED: 'true' }, false],
    ['not by other variables alone', { OTEL_SERVICE_NAME: 'contacts', OTEL_TRACES_SAMPLER: 'always_on' }, false],
  ])('%s', (_, env, wanted) => {
    expect(chooseTraces(env)).toEqual({ wanted, warnings: [] });
  });

  it.each<[Record<string, string>, boolean, string]>([
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, false, 'OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not available'],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, true, 'traces go as http/json'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, false, 'OTEL_TRACES_EXPORTER: there is no exporter zipkin'],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: 'jaeger_remote' }, true, 'there is no sampler jaeger_remote'],
  ])('or not, and what does not work is said: %o', (env, wanted, words) => {
    const choice = chooseTraces(env);
    expect(choice).toMatchObject({ wanted, warnings: [expect.stringContaining(words)] });
  });
});

describe('The share of traced runs', () => {
  it.each([
    [undefined, undefined, 1],
    ['parentbased_always_on', undefined, 1],
    ['always_off', undefined, 0],
    ['traceidratio', '0.25', 0.25],
    ['parentbased_traceidratio', '0.25', 0.25],
    ['traceidratio', 'half', 1],
  ])('with %s and %s is %s', (sampler, share, expected) => {
    expect(shareOfRuns({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share })).toBe(expected);
  });
});
