/**
 * The operations on contacts: create (4.1), get (4.2), update (4.3), list (4.5), delete (`facts.md`).
 *
 * Section 4, status of success: not shown. 201 for create, 204 for delete, 200 for the others (`facts.md`).
 */
import type { Clock } from '#src/clock.ts';
import { isoInstant } from '#src/clock.ts';
import type { CustomFieldDefinitions } from '../custom-fields/definition.ts';
import { Refusal } from '../http/refusal.ts';
import type { Operation, OperationRequest, Reply } from '../operations/operation.ts';
import { ReadyBody } from '../operations/ready-body.ts';
import type { PageTokens } from '../paging/page-token.ts';
import type { PatchMode } from '../service-options.ts';
import type { ContactQuery } from '../store/contact-pages.ts';
import type { Store } from '../store/open-store.ts';
import { applyUpdate } from './apply-update.ts';
import { conflictRefusal } from './conflict.ts';
import { type ContactOperationName, contactDescriptions } from './contact-descriptions.ts';
import { createContactIds, newItemId } from './contact-id.ts';
import { contactReplyData } from './contact-reply.ts';
import { createBodyParser } from './create-body.ts';
import { checkCustomFieldItems } from './custom-field-items.ts';
import { parseContactListQuery } from './list-query.ts';
import { newContact } from './new-contact.ts';
import type { ReservedSources } from './reserved-sources.ts';
import { parseUpdateBody } from './update-body.ts';

export interface ContactParts {
  readonly store: Pick<Store, 'contacts' | 'read' | 'write' | 'ownerUserId'>;
  readonly definitions: CustomFieldDefinitions;
  readonly patchMode: PatchMode;
  readonly reservedSources: ReservedSources;
  readonly clock: Clock;
  readonly pageTokens: PageTokens;
}

export function contactOperations(parts: ContactParts): readonly Operation[] {
  const one = { path: '/v1/contacts/:id', resource: '08' } as const;
  const all = { path: '/v1/contacts', resource: '08' } as const;
  const described = contactDescriptions(parts.reservedSources, parts.patchMode);
  const as = <Name extends ContactOperationName>(name: Name) => ({ name, description: described[name] });
  return [
    { ...all, ...as('create'), method: 'POST', takesBody: true, run: createContact(parts) },
    { ...all, ...as('list'), method: 'GET', takesBody: false, run: (request) => listContacts(parts, request) },
    { ...one, ...as('get'), method: 'GET', takesBody: false, run: (request) => getContact(parts, request) },
    { ...one, ...as('update'), method: 'PATCH', takesBody: true, run: (request) => updateContact(parts, request) },
    { ...one, ...as('delete'), method: 'DELETE', takesBody: false, run: (request) => deleteContact(parts, request) },
  ];
}

function createContact({ store, definitions, reservedSources, clock }: ContactParts): Operation['run'] {
  const parseCreateBody = createBodyParser(reservedSources);
  const nextContactId = createContactIds();
  return async (request) => {
    const body = parseCreateBody(request.body());
    const customFields = checkCustomFieldItems(body.customFields, definitions) ?? [];
    const document = await store.write(() => {
      refuseTakenExternalId(store, body.externalId ?? null);
      const nowMs = clock.nowMs();
      const { ownerUserId } = store;
      const facts = { id: nextContactId(nowMs), createdAt: isoInstant(nowMs), ownerUserId, newItemId };
      return store.contacts.insert(newContact(body, customFields, facts));
    });
    return { status: 201, body: new ReadyBody(`{"data":${document}}`) };
  };
}

function getContact({ store }: ContactParts, request: OperationRequest): Reply {
  const document = store.read(() => store.contacts.findDocument(request.id)) ?? refuseAbsent(request.id);
  return { status: 200, body: new ReadyBody(`{"data":${document}}`) };
}

async function updateContact(
  { store, definitions, patchMode, clock }: ContactParts,
  request: OperationRequest,
): Promise<Reply> {
  const body = parseUpdateBody(request.body());
  const customFields = checkCustomFieldItems(body.customFields, definitions);
  const contact = await store.write(() => {
    const stored = store.contacts.find(request.id) ?? refuseAbsent(request.id);
    // 2.1, updatedAt of an update that changes nothing: not shown. It moves with every update.
    const facts = { mode: patchMode, updatedAt: isoInstant(clock.nowMs()), newItemId };
    const updated = applyUpdate(stored, body, customFields, facts);
    if (updated.externalId !== stored.externalId) refuseTakenExternalId(store, updated.externalId);
    store.contacts.replace(updated);
    return updated;
  });
  return { status: 200, body: { data: contactReplyData(contact, definitions, 'update') } };
}

async function deleteContact({ store }: ContactParts, request: OperationRequest): Promise<Reply> {
  const removed = await store.write(() => store.contacts.remove(request.id));
  if (!removed) refuseAbsent(request.id);
  return { status: 204, body: null };
}

function listContacts({ store, clock, pageTokens }: ContactParts, request: OperationRequest): Reply {
  const { maxResults, ...query } = parseContactListQuery(request.query, pageTokens);
  const { ignoreFilters, lagMs } = request.listing;
  const wanted: ContactQuery = {
    ...query,
    ...(ignoreFilters ? { externalIds: null, sources: null } : {}),
    createdMsMax: lagMs > 0 ? clock.nowMs() - lagMs : Number.MAX_SAFE_INTEGER,
    limit: maxResults + 1,
  };
  const rows = store.read(() => store.contacts.page(wanted));
  const shown = rows.slice(0, maxResults);
  const last = shown.at(-1);
  const data = shown.map((row) => row.document).join(',');
  const nextPageToken = rows.length > maxResults && last !== undefined ? pageTokens.ofSeq('contacts', last.seq) : null;
  // 4.6.2: "does not hold the true total count". It counts this page, so that nobody can lean on it.
  const totalItems = shown.length;
  return {
    status: 200,
    body: new ReadyBody(
      `{"data":[${data}],"totalItems":${totalItems},"nextPageToken":${JSON.stringify(nextPageToken)}}`,
    ),
  };
}

/**
 * 2.1, "expected to be unique": how strictly is not shown. One contact of the workspace at a time may have an
 * externalId, whatever its source; a deleted contact's is free again. The reply names no field (`facts.md`).
 */
function refuseTakenExternalId({ contacts }: ContactParts['store'], externalId: string | null): void {
  if (externalId !== null && contacts.idOfExternalId(externalId) !== null) throw conflictRefusal();
}

function refuseAbsent(id: string): never {
  throw new Refusal(404, `No contact has the id ${id.slice(0, 100)}.`);
}
