import { describe } from 'vitest';
import { queueContract } from './queue-contract.ts';

describe('the queue on the embedded Valkey', () => queueContract(() => null));
