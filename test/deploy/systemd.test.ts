/** The unit for systemd fits what Patchbay does: its exit codes, its stop, what it writes. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '#src/config/load.ts';
import { exitCodes } from '#src/runs/exit-code.ts';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('deploy/systemd/patchbay.service', root), 'utf8');

/** Every value of a setting, in order. */
function valuesOf(name: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

function hasVerifier(): boolean {
  try {
    execFileSync('systemd-analyze', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('patchbay.service', () => {
  it.skipIf(!hasVerifier())('is a unit without a flaw, as systemd-analyze says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const unit = join(folder, 'patchbay.service');
    // The machine of the test need not have Node where a server has it.
    writeFileSync(unit, text.replace('/usr/bin/node', process.execPath));
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', unit], { timeout: 30_000 });
    expect(stdout + stderr).not.toContain('patchbay.service');
  });

  it('has sections, settings and comments, and nothing else', () => {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of lines) expect(line).toMatch(/^(?:\[(?:Unit|Service|Install)\]|[A-Z][A-Za-z]+=.*)$/);
  });

  it('starts again after a crash, and not where only a person can help', () => {
    expect(valuesOf('Restart')).toEqual(['on-failure']);
    expect(
      valuesOf('StartLimitIntervalSec'),
      'an outage at boot, of Redis as well, does not use up its starts',
    ).toEqual(['0']);
    expect(valuesOf('RestartPreventExitStatus')).toEqual([`${exitCodes.usage} ${exitCodes.auth}`]);
    expect(valuesOf('SuccessExitStatus')).toEqual([`${exitCodes.terminated}`]);
  });

  it('is stopped by SIGTERM, and waits longer than Patchbay does for its requests', async () => {
    const { config } = await loadConfig({ env: {}, flags: {}, configPath: null, cwd: '/nowhere' });
    expect(valuesOf('KillSignal')).toEqual(['SIGTERM']);
    expect(Number(valuesOf('TimeoutStopSec')[0]) * 1_000).toBeGreaterThan(config.queue.stopDeadlineMs + 10_000);
  });

  it('starts as npm start does, with an environment that the configuration accepts', async () => {
    const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
    expect(valuesOf('ExecStart')).toEqual([`/usr/bin/${manifest.scripts.start}`]);
    const env = Object.fromEntries((valuesOf('Environment')[0] ?? '').split(' ').map((pair) => pair.split('=')));
    const { warnings, config } = await loadConfig({ env, flags: {}, configPath: null, cwd: '/nowhere' });
    expect(warnings).toEqual([]);
    expect(config.data.folder).toBe(`/var/lib/${valuesOf('StateDirectory')[0]}`);
  });

  it('may write its data folder and nothing else, and holds no secret', () => {
    expect(valuesOf('ProtectSystem')).toEqual(['strict']);
    expect(valuesOf('NoNewPrivileges')).toEqual(['true']);
    expect(valuesOf('EnvironmentFile')).toEqual(['/etc/patchbay/patchbay.env']);
    expect(text).not.toMatch(/^Environment=.*(?:KEY|TOKEN|PASSWORD)/m);
    // It reads from /proc whether the other processes of its data folder live.
    expect(text).not.toMatch(/^(?:ProtectProc|PrivatePIDs|ProcSubset)=/m);
  });
});
