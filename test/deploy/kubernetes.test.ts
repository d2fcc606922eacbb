/** The manifests of `deploy/kubernetes`, held to the schemas of Kubernetes (`kubernetes-models`, made of its OpenAPI description). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '#src/config/load.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'deploy/kubernetes');

interface Manifest {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly document: Record<string, unknown>;
}

const head = z.object({ apiVersion: z.string(), kind: z.string(), metadata: z.object({ name: z.string() }) });

const manifests: readonly Manifest[] = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((parsed) => {
      const document = parsed.toJS();
      return { file, ...head.parse(document), document };
    }),
  );

/** Where the package has a kind, as in `apps/v1/Deployment`. */
const pathOf = ({ apiVersion, kind }: Manifest): string => `kubernetes-models/${apiVersion}/${kind}`;

const probe = z.object({ httpGet: z.object({ path: z.string() }) });
const workload = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        automountServiceAccountToken: z.literal(false),
        securityContext: z.object({
          runAsNonRoot: z.literal(true),
          seccompProfile: z.object({ type: z.literal('RuntimeDefault') }),
        }),
        containers: z.array(
          z.object({
            args: z.array(z.string()),
            env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
            livenessProbe: probe,
            readinessProbe: probe.optional(),
            resources: z.object({ limits: z.object({ memory: z.string() }) }),
            securityContext: z.object({
              allowPrivilegeEscalation: z.literal(false),
              capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
              readOnlyRootFilesystem: z.literal(true),
            }),
          }),
        ),
      }),
    }),
  }),
});

function documentOf(kind: string): Record<string, unknown> {
  const found = manifests.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found.document;
}

describe('the manifests for Kubernetes', () => {
  it.each(manifests.map((one) => [one.kind, one] as const))('pass the schema: %s', async (_kind, one) => {
    const model: Record<string, new (data: unknown) => { validate(): void }> = await import(pathOf(one));
    const Model = model[one.kind];
    if (Model === undefined) throw new Error(`the package has no ${one.kind}`);
    expect(() => new Model(one.document).validate()).not.toThrow();
    // The schema notices something: no kind is valid without its metadata being an object.
    expect(() => new Model({ ...one.document, metadata: 'none' }).validate()).toThrow(/metadata/);
  });

  it('have no field that Kubernetes does not know, by the types of the same package', () => {
    expect(unknownFields(manifests)).toBe('');
    const [first] = manifests;
    if (first === undefined) throw new Error('there are manifests');
    const spoilt = { ...first, document: { ...first.document, metdata: {} } };
    expect(unknownFields([spoilt])).toMatch(/metdata"' does not exist in type/);
  });

  it('belong to no namespace, and hold no secret', () => {
    for (const { document, kind } of manifests) {
      expect(document.metadata, kind).not.toHaveProperty('namespace');
      if (kind !== 'Secret')
        expect(JSON.stringify(document)).not.toMatch(/"(PATCHBAY_API_KEY|PATCHBAY_TOKEN|PGPASSWORD)"/);
    }
    const { stringData } = z.object({ stringData: z.record(z.string(), z.string()) }).parse(documentOf('Secret'));
    for (const value of Object.values(stringData)) expect(value).toMatch(/^replace-me/);
  });

  it.each(['StatefulSet', 'Deployment'])(
    'run without root and rights, within limits, and with time to stop: %s',
    async (kind) => {
      const { template } = workload.parse(documentOf(kind)).spec;
      const { config } = await loadConfig({ env: {}, flags: {}, configPath: null, cwd: '/nowhere' });
      expect(template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(config.queue.stopDeadlineMs);
      expect(template.spec.containers.map(({ livenessProbe }) => livenessProbe.httpGet.path)).toEqual(['/healthz']);
    },
  );

  it('ask the engine whether it can take files, and workers only whether they live', () => {
    const [engine] = workload.parse(documentOf('StatefulSet')).spec.template.spec.containers;
    const [worker] = workload.parse(documentOf('Deployment')).spec.template.spec.containers;
    expect([engine?.args, engine?.readinessProbe?.httpGet.path]).toEqual([['start'], '/readyz']);
    expect([worker?.args, worker?.readinessProbe]).toEqual([['start', '--worker'], undefined]);
  });

  it('have an environment that the configuration accepts without a warning', async () => {
    const variables = z.record(z.string(), z.string());
    const { data } = z.object({ data: variables }).parse(documentOf('ConfigMap'));
    const { stringData } = z.object({ stringData: variables }).parse(documentOf('Secret'));
    const [worker] = workload.parse(documentOf('Deployment')).spec.template.spec.containers;
    const own = Object.fromEntries((worker?.env ?? []).map(({ name, value }) => [name, value]));
    const env = { ...data, ...stringData, ...own };
    const { warnings, config } = await loadConfig({ env, flags: {}, configPath: null, cwd: '/nowhere' });
    expect(warnings).toEqual([]);
    expect(config.ledger.databaseUrl).toBe(data.DATABASE_URL);
  });
});

/** What the compiler says of the manifests as objects of their types: a field that a type does not have, or a value of another type. */
function unknownFields(some: readonly Manifest[]): string {
  const place = mkdtempSync(join(tmpdir(), 'pb-kubernetes-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  const lines = some.map(
    (one, index) =>
      `import type { I${one.kind} as Kind${index} } from '${pathOf(one)}';\nexport const one${index}: Kind${index} = ${JSON.stringify(one.document)};`,
  );
  writeFileSync(join(place, 'manifests.ts'), lines.join('\n'));
  writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  const options = { strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', target: 'es2024', types: [] };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['manifests.ts'] }));
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', place], { encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error);
  }
}
