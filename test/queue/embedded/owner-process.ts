/**
 * A process that owns an embedded queue, for tests that need its end. Arguments: what to do, the folder.
 *
 * - `wait`: saves a key, prints `saved`, and waits to be killed.
 * - `stop`: starts, stops, and has nothing more to do.
 */
import { Redis } from 'ioredis';
import { silentLogger } from '#src/log.ts';
import { startEmbeddedValkey } from '#src/queue/embedded/embedded-valkey.ts';

const [, , task = '', folder = ''] = process.argv;
const valkey = await startEmbeddedValkey({ folder, log: silentLogger() });
if (task === 'wait') {
  const client = new Redis(valkey.connection);
  await client.set('survivor', 'yes');
  await client.save();
  process.stdout.write('saved\n');
} else {
  await valkey.stop();
}
