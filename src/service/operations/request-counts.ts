/** How many requests each operation has had. */
import { type Operation, type OperationName, operationNames } from './operation.ts';

export interface RequestCounts {
  readonly count: (operation: Operation) => void;
  /** One entry per operation, be it 0. */
  readonly all: () => Readonly<Record<string, number>>;
}

export function createRequestCounts(): RequestCounts {
  const counts = new Map<OperationName, number>(operationNames.map((name) => [name, 0]));
  return {
    count: ({ name }) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    all: () => Object.fromEntries(counts),
  };
}
