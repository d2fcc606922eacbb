// For `node --import`: the wall clock of the process and its threads, off by as many milliseconds as the file says.
import { readFileSync } from 'node:fs';

const realNow = Date.now;
let offMs = 0;
const look = () => {
  offMs = Number(readFileSync(process.env.WALL_OFF_FILE ?? '', 'utf8'));
};
look();
setInterval(look, 20).unref();
Date.now = () => realNow() + offMs;
