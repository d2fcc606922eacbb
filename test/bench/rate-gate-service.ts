/**
 * A service for the measurement of the rate gate, as a process of its own: answers one contact to every request and notes
 * when each arrived. Prints its port, and for each line on its standard input the arrivals since the last one.
 */
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const contact = {
  data: { id: 'C1', externalId: 'k-1', defaultFields: { firstName: 'Ann', emails: [], phoneNumbers: [] } },
};
const reply = JSON.stringify(contact);
let arrivedAtMs: number[] = [];

const server = createServer((_request, response) => {
  arrivedAtMs.push(performance.now());
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) });
  response.end(reply);
});
server.keepAliveTimeout = 5_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});

createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(`${JSON.stringify(arrivedAtMs)}\n`);
  arrivedAtMs = [];
});
process.stdin.on('end', () => process.exit(0));
