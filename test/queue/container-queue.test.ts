/** The contract of the queue on Redis in a container: whichever the machine has, the version is the one of the composition. */
import { GenericContainer, type StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll } from 'vitest';
import { describeOnEngine, startTimeoutMs } from '#test/containers/support/engine.ts';
import { queueContract } from './queue-contract.ts';

describeOnEngine('the queue on Redis in a container', () => {
  let container: StartedTestContainer | null = null;
  beforeAll(async () => {
    container = await new GenericContainer('redis:7.4-alpine')
      .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
      .withExposedPorts(6379)
      .start();
  }, startTimeoutMs);
  afterAll(async () => {
    await container?.stop();
  });

  queueContract(() => `redis://${container?.getHost()}:${container?.getMappedPort(6379)}`);
});
