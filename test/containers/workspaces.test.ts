/** Several workspaces on one machine, as `deploy/compose/workspaces.yml` shows them: nothing but the image is shared. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '#src/config/load.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = 'deploy/compose/workspaces.yml';
const { services } = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        environment: z.record(z.string(), z.string()),
        ports: z.array(z.string()),
        networks: z.array(z.string()),
        volumes: z.array(z.string()),
        stop_grace_period: z.string(),
      }),
    ),
  })
  .parse(parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')));
const all = Object.entries(services);

describe(file, () => {
  it('passes the linter without an error or a warning', async () => {
    const linter = fileURLToPath(new URL('../../node_modules/dclint/bin/dclint.cjs', import.meta.url));
    const args = [linter, '--max-warnings', '0', '--formatter', 'json', file];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 20_000 });
    expect(JSON.parse(stdout)).toMatchObject([{ errorCount: 0, warningCount: 0, messages: [] }]);
  });

  it('gives each workspace its own name, data folder, network, port, key and token', () => {
    expect(all.length).toBeGreaterThan(1);
    const own = all.map(([name, { environment, ports, networks, volumes }]) => {
      expect(environment.PATCHBAY_NAME).toBe(name);
      const { PATCHBAY_API_KEY, PATCHBAY_BASE_URL, PATCHBAY_TOKEN } = environment;
      for (const secret of [PATCHBAY_API_KEY, PATCHBAY_TOKEN]) expect(secret).toMatch(/^\$\{[A-Z_]+:\?/);
      return [PATCHBAY_API_KEY, PATCHBAY_BASE_URL, PATCHBAY_TOKEN, ...ports, ...networks, ...volumes];
    });
    const flat = own.flat();
    expect(new Set(flat).size).toBe(flat.length);
  });

  it('publishes nothing beyond loopback, and says in links where each page is', () => {
    for (const [name, { ports, environment }] of all) {
      const [, port] = /^127\.0\.0\.1:(\d+):8080$/.exec(ports[0] ?? '') ?? [];
      expect(environment.PATCHBAY_PAGE_ADDRESS, name).toBe(`http://127.0.0.1:${port}`);
    }
  });

  it('has environments that the configuration accepts, and waits for their stop', async () => {
    for (const [name, { environment, stop_grace_period }] of all) {
      const env = {
        ...environment,
        ...{
          PATCHBAY_BASE_URL: 'https://api.example.com',
          PATCHBAY_API_KEY: 'key',
          PATCHBAY_TOKEN: 'token-of-16-signs',
        },
      };
      const { config, warnings } = await loadConfig({ env, flags: {}, configPath: null, cwd: '/nowhere' });
      expect([config.name, warnings]).toEqual([name, []]);
      expect(Number.parseInt(stop_grace_period, 10) * 1_000).toBeGreaterThan(config.queue.stopDeadlineMs);
    }
  });
});
