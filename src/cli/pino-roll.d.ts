/** The part of pino-roll that is used here; the package brings no types. */
declare module 'pino-roll' {
  import type { DestinationStream } from 'pino';

  interface PinoRollOptions {
    readonly file: string;
    readonly size: string;
    readonly limit: { readonly count: number; readonly removeOtherLogFiles: boolean };
    readonly mkdir: boolean;
    readonly sync: boolean;
    readonly mode: number;
  }
  export default function pinoRoll(options: PinoRollOptions): Promise<DestinationStream>;
}
