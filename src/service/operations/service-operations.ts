/** The table of operations: all that the interface can do, on one store. */
import { callOperations, recordingOperations } from '#src/service/activity/calls.ts';
import { messageOperations } from '#src/service/activity/messages.ts';
import { customFieldOperations } from '#src/service/custom-fields.ts';
import type { PageTokens } from '#src/service/paging.ts';
import { phoneNumberOperations } from '#src/service/phone-numbers.ts';
import { contactOperations } from '../contacts/contact-operations.ts';
import { defaultReservedSources } from '../contacts/reserved-sources.ts';
import type { ServiceBehaviour } from '../service-options.ts';
import type { Store } from '../store/open-store.ts';
import type { Operation } from './operation.ts';

export function serviceOperations(
  behaviour: ServiceBehaviour,
  store: Store,
  pageTokens: PageTokens,
): readonly Operation[] {
  const { patchMode, pageNumbers, clock, reservedSources = defaultReservedSources } = behaviour;
  const { internationalMessaging = false } = behaviour;
  // Nothing in the interface changes definitions: they are read once.
  const definitions = new Map(store.customFields.all().map((one) => [one.key, one]));
  return [
    ...contactOperations({ store, definitions, patchMode, reservedSources, clock, pageTokens }),
    ...phoneNumberOperations({ phoneNumbers: store.phoneNumbers, pageNumbers, pageTokens }),
    ...customFieldOperations(definitions),
    ...callOperations({ store, pageTokens }),
    ...recordingOperations(store),
    ...messageOperations({ store, clock, internationalMessaging, pageTokens }),
  ];
}
