import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, describe } from 'vitest';
import { queueContract } from './queue-contract.ts';

const startTimeoutMs = 180_000;

/** Asked once: it answers in milliseconds where there is no container engine. */
const engine = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);
const reason = engine ? '' : ' (skipped: no container engine answers)';

describe.skipIf(!engine)(`the queue on Redis in a container${reason}`, () => {
  let container: StartedTestContainer | null = null;
  beforeAll(async () => {
    container = await new GenericContainer('redis:7-alpine')
      .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
      .withExposedPorts(6379)
      .start();
  }, startTimeoutMs);
  afterAll(async () => {
    await container?.stop();
  });

  queueContract(() => `redis://${container?.getHost()}:${container?.getMappedPort(6379)}`);
});
