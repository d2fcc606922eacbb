/** What would be printed, and the exit code that would be left; both are put back when the test ends. */
import { onTestFinished, vi } from 'vitest';

export interface CapturedOutput {
  stdout(): string;
  stderr(): string;
  exitCode(): typeof process.exitCode;
}

export function captureOutput(): CapturedOutput {
  const { exitCode } = process;
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text;
      return true;
    }),
  );
  process.exitCode = undefined;
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    process.exitCode = exitCode;
  });
  return {
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    exitCode: () => process.exitCode,
  };
}
