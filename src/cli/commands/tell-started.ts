/** Tells where a service that `patchbay serve` started is, and how it is asked. */
import type { PatchMode } from '#src/service/service-options.ts';
import type { RunningService } from '#src/service/start-service.ts';
import type { Output } from '../output.ts';
import { sectionCountsText } from '../section-counts.ts';

interface StartFacts {
  /** As it was given. */
  readonly store: string;
  readonly patchMode: PatchMode;
}

export function tellStarted(output: Output, service: RunningService, { store, patchMode }: StartFacts): void {
  const { loaded } = service;
  if (output.json) {
    output.document({ origin: service.origin, key: service.printedKey, store, ...(loaded === null ? {} : { loaded }) });
  } else {
    output.line(`workspace service at ${service.origin} (PATCH ${patchMode}s, store ${store})`);
    if (loaded !== null) output.line(`loaded   ${sectionCountsText(loaded)}`);
    if (service.printedKey !== null) output.line(`key      ${service.printedKey}`);
    output.line(`docs     ${service.origin}/docs (for machines: /openapi.json)`);
    output.line(
      `try      curl -H "Authorization: ${service.printedKey ?? '$KEY'}" "${service.origin}/v1/contacts?maxResults=3"`,
    );
  }
}
