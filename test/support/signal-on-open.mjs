// For `node --import`: sends the process a signal while it opens its first database, which holds its thread.
import { DatabaseSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';

const { exec } = DatabaseSync.prototype;
let isSent = !isMainThread;
DatabaseSync.prototype.exec = function (sql) {
  if (!isSent) process.kill(process.pid, process.env.SIGNAL_ON_OPEN);
  isSent = true;
  return exec.call(this, sql);
};
