import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '#src/config/load.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');

const composeFile = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      command: z.array(z.string()).default([]),
      environment: z.record(z.string(), z.string()).default({}),
      ports: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
      healthcheck: z.object({ test: z.array(z.string()) }).optional(),
      stop_grace_period: z.string().optional(),
      restart: z.literal('unless-stopped'),
      read_only: z.literal(true),
      cap_drop: z.tuple([z.literal('ALL')]),
      security_opt: z.tuple([z.literal('no-new-privileges:true')]),
      mem_limit: z.string(),
      pids_limit: z.number(),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
    }),
  ),
  volumes: z.record(z.string(), z.object({})),
});

async function composed() {
  return composeFile.parse(parse(await read('docker-compose.yml'), { merge: true }));
}

async function services() {
  return (await composed()).services;
}

/** What a shell would put in place of `${NAME:?…}` and `${NAME:-default}`. */
function interpolated(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value.replace(/^\$\{(\w+):([?-])(.*)\}$/, (_all, variable: string, kind: string, rest: string) =>
        kind === '-' ? rest : `${variable.toLowerCase()}-of-some-length`,
      ),
    ]),
  );
}

describe('docker-compose.yml', () => {
  it('passes the linter without an error or a warning', async () => {
    const linter = fileURLToPath(new URL('../../node_modules/dclint/bin/dclint.cjs', import.meta.url));
    const args = [linter, '--max-warnings', '0', '--formatter', 'json', 'docker-compose.yml'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 20_000 });
    expect(JSON.parse(stdout)).toMatchObject([{ errorCount: 0, warningCount: 0, messages: [] }]);
  });

  it('keeps the jobs of the queue: append-only file, no eviction, a volume', async () => {
    const { redis } = await services();
    const option = (name: string) => redis?.command[redis.command.indexOf(name) + 1];
    expect(option('--appendonly')).toBe('yes');
    expect(option('--maxmemory-policy')).toBe('noeviction');
    expect(redis?.volumes).toEqual(['redis-data:/data']);
    expect(redis?.healthcheck?.test).toEqual(['CMD', 'redis-cli', 'ping']);
  });

  it('names each volume, and mounts no folder of the machine', async () => {
    const { services: all, volumes } = await composed();
    const mounted = Object.values(all).flatMap((service) => service.volumes.map((one) => one.split(':')[0] ?? ''));
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(volumes).sort());
  });

  it('pins every image and publishes nothing beyond loopback', async () => {
    for (const [name, service] of Object.entries(await services())) {
      const { image } = service;
      expect(image, name).toMatch(/^[a-z/]+:\d+[\w.-]*$/);
      for (const port of service.ports) expect(port, name).toMatch(/^127\.0\.0\.1:/);
      if (!image.startsWith('patchbay')) expect(service.healthcheck, name).toBeDefined();
    }
  });

  it('holds no secret: each is asked of the environment', async () => {
    for (const { environment, command } of Object.values(await services())) {
      for (const [name, value] of Object.entries(environment)) {
        if (/KEY|TOKEN|PASSWORD/.test(name)) expect(value).toMatch(/^\$\{[A-Z_]+:\?/);
      }
      const key = command.indexOf('--key');
      if (key >= 0) expect(command[key + 1]).toMatch(/^\$\{PATCHBAY_API_KEY:\?/);
    }
  });

  it('gives engine, workers and service an environment that the configuration accepts without a warning', async () => {
    const { engine, worker, service } = await services();
    for (const environment of [engine?.environment, worker?.environment, service?.environment]) {
      const env = interpolated(environment ?? {});
      const { warnings } = await loadConfig({ env, flags: {}, configPath: null, cwd: '/nowhere' });
      expect(warnings).toEqual([]);
    }
    expect([engine?.command, worker?.command, service?.command[0]]).toEqual([
      ['start'],
      ['start', '--worker'],
      'serve',
    ]);
  });

  it('starts the servers first, then the engine, then its workers, which share its data folder', async () => {
    const { engine, worker } = await services();
    const healthy = { condition: 'service_healthy' };
    expect(engine?.depends_on).toEqual({ postgres: healthy, redis: healthy, service: healthy });
    expect(worker?.depends_on).toEqual({ ...engine?.depends_on, engine: healthy });
    expect(worker?.volumes).toEqual(engine?.volumes);
  });

  it('lets engine and workers finish their requests before they are killed', async () => {
    const { engine, worker } = await services();
    const { config } = await loadConfig({ env: {}, flags: {}, configPath: null, cwd: '/nowhere' });
    for (const one of [engine, worker]) {
      expect(Number.parseInt(one?.stop_grace_period ?? '0', 10) * 1_000).toBeGreaterThan(config.queue.stopDeadlineMs);
    }
  });
});

describe('Dockerfile', () => {
  it('installs by the lock without development and optional packages, and runs as another user than root', async () => {
    const lines = (await read('Dockerfile')).split('\n');
    expect(lines).toContain('FROM node:24-slim');
    expect(lines.find((line) => line.startsWith('RUN npm'))).toContain('npm ci --omit=dev --omit=optional');
    expect(lines).toContain('USER node');
    expect(lines.indexOf('USER node')).toBeLessThan(lines.indexOf('CMD ["start"]'));
    expect(lines).toContain(
      'ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=30", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--v8-pool-size=1", "src/cli/patchbay.mjs"]',
    );
  });

  it('holds no secret', async () => {
    expect(await read('Dockerfile')).not.toMatch(/^(ENV|ARG)?.*(KEY|TOKEN|PASSWORD)[A-Z_]*=/m);
  });

  it('is healthy while /healthz answers 200, and only then', async () => {
    const [, line] = /^ {2}CMD (\["node".*\])$/m.exec(await read('Dockerfile')) ?? [];
    const [, ...args] = z.array(z.string()).parse(JSON.parse(line ?? '[]'));
    let status = 200;
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const check = () => promisify(execFile)(process.execPath, args, { env: { PORT: String(port) }, timeout: 20_000 });
    try {
      await check();
      status = 503;
      await expect(check()).rejects.toMatchObject({ code: 1 });
      expect(paths).toEqual(['/healthz', '/healthz']);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    await expect(check()).rejects.toMatchObject({ code: 1 });
  });

  it('is built from the sources alone: whatever is not named stays outside', async () => {
    const lines = (await read('.dockerignore')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    expect(lines.filter((line) => line.startsWith('!'))).toEqual([
      '!package.json',
      '!package-lock.json',
      '!.npmrc',
      '!config',
      '!jobs',
      '!src',
    ]);
    expect(lines).toContain('**/.env*');
  });
});
