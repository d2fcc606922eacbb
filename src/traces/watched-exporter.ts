/** An exporter that says when its collector takes no spans any more, and when it takes them again: once each, however many are lost. */
import { messageOf } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';

/** `ExportResultCode.SUCCESS`. */
const taken = 0;

interface ExportEnd {
  readonly code: number;
  readonly error?: Error;
}

/** Of OpenTelemetry, as far as it is needed here. */
interface Exporter<Spans> {
  export(spans: Spans, told: (end: ExportEnd) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}

interface WatchedExporter<Spans> extends Exporter<Spans> {
  /** Whether the last spans were not taken, which the log says. */
  isAway(): boolean;
}

/** @param exporter tries again for some seconds before it says that it failed. */
export function watchedExporter<Spans>(exporter: Exporter<Spans>, log: Logger): WatchedExporter<Spans> {
  let isAway = false;
  return {
    export: (spans, told) =>
      exporter.export(spans, (result) => {
        const fails = result.code !== taken;
        if (fails && !isAway)
          log.warn(
            { reason: messageOf(result.error) },
            'the trace collector takes no spans; they are lost until it does',
          );
        if (isAway && !fails) log.info('the trace collector takes spans again');
        isAway = fails;
        told(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
    isAway: () => isAway,
  };
}
