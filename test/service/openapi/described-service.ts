/** A service in this process, without a port, and its public description. */
import { onTestFinished } from 'vitest';
import type { ObservedReply, ObserveReply, OpenApiDocument } from '#src/service/openapi/openapi-document.ts';
import { workspaceSeed } from '#src/service/seed/seed-workspace.ts';
import { createServiceApp } from '#src/service/service-app.ts';
import { openStore } from '#src/service/store/open-store.ts';
import { serviceOptions, type TestServiceOptions } from '../test-service.ts';

export interface DescribedService {
  readonly app: ReturnType<typeof createServiceApp>['app'];
  readonly document: OpenApiDocument;
  /** Every reply so far. */
  readonly replies: readonly ObservedReply[];
}

export function describedService(overrides: TestServiceOptions = {}): DescribedService {
  const options = serviceOptions(overrides);
  const store = openStore(':memory:', workspaceSeed(options, options.clock));
  const described: OpenApiDocument[] = [];
  const replies: ObservedReply[] = [];
  const replyObserver = (document: OpenApiDocument): ObserveReply => {
    described.push(document);
    const check = options.replyObserver?.(document);
    return (reply) => {
      replies.push(reply);
      check?.(reply);
    };
  };
  const service = createServiceApp({ ...options, replyObserver }, store);
  onTestFinished(async () => {
    await service.close();
    store.close();
  });
  const [document] = described;
  if (document === undefined) throw new Error('a service that is observed describes itself at its start');
  return { app: service.app, document, replies };
}
