/**
 * Where each worker thread begins: the program that it is given runs from what was compiled once. Without that, each thread would
 * load a compiler of its own, which costs it 18 MB and a third of a second.
 */
import nodeModule from 'node:module';
import { workerData } from 'node:worker_threads';

nodeModule.enableCompileCache(workerData.compileCache);
await import(workerData.program);
