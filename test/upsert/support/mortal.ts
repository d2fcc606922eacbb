/** Workers that die in the middle of their work. */
import type { UpsertParts } from '#src/upsert/chunk.ts';

/** A process that dies at its n-th call of a port, before the call or after it. */
export function mortal(
  parts: UpsertParts,
  at: number,
  moment: 'before' | 'after',
): { parts: UpsertParts; lives(): boolean } {
  let calls = 0;
  let isDead = false;
  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name, receiver) => {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return async (...given: readonly unknown[]): Promise<unknown> => {
          if (isDead) throw new Error('dead');
          calls += 1;
          const isLast = calls === at;
          if (isLast && moment === 'before') isDead = true;
          if (isDead) throw new Error('dies before');
          const result: unknown = await Reflect.apply(member, target, given);
          if (isLast) isDead = true;
          if (isDead) throw new Error('dies after');
          return result;
        };
      },
    });
  const { ledger, workspace } = parts;
  const mortalLedger = { ...ledger, runs: wrap(ledger.runs), contacts: wrap(ledger.contacts) };
  return { parts: { ...parts, ledger: mortalLedger, workspace: wrap(workspace) }, lives: () => !isDead };
}
