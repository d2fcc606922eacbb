/**
 * The phone numbers of the workspace, page by page (`interface.md`, 4.4; paging and the filter's name: `facts.md`).
 *
 * Invariant: half a list never passes for the whole. On the first page 404 says that there is no such list; on a later one
 * it is odd.
 */
import { PatchbayError } from '#src/errors.ts';
import { type PhoneNumber, phoneNumberListEnvelope } from '#src/wire/phone-number.ts';
import { phoneNumberPagesMax, phoneNumbersReplyBytesMax } from './limits.ts';
import { walkPages } from './page-walker.ts';
import type { PhoneNumberOptions } from './port.ts';
import type { Read } from './read.ts';

const noListCode = 'noPhoneNumberList';

/** Throws as `port.ts` says. */
export async function* listPhoneNumberPages(
  read: Read,
  { userId = null, signal }: PhoneNumberOptions = {},
): AsyncGenerator<readonly PhoneNumber[], void, void> {
  yield* walkPages(
    async (token) => {
      const { value } = await read(
        {
          operation: 'list the phone numbers',
          path: pathOf(userId, token),
          schema: phoneNumberListEnvelope,
          notFound: token === null ? 'absent' : 'odd',
          replyBytesMax: phoneNumbersReplyBytesMax,
        },
        signal === undefined ? {} : { signal },
      );
      if (value === null) throw noList(userId);
      return { data: value.data, nextPageToken: value.nextPageToken };
    },
    { pagesMax: phoneNumberPagesMax },
  );
}

export async function listPhoneNumberIds(read: Read): Promise<readonly string[] | null> {
  const ids = new Set<string>();
  try {
    for await (const page of listPhoneNumberPages(read)) {
      for (const number of page) ids.add(number.id);
    }
  } catch (error) {
    if (error instanceof PatchbayError && error.code === noListCode) return null;
    throw error;
  }
  return [...ids];
}

/** The filter stands on every page: the service asks for it again with the token. */
function pathOf(userId: string | null, token: string | null): string {
  const query = [
    ...(userId === null ? [] : [`userId=${encodeURIComponent(userId)}`]),
    ...(token === null ? [] : [`pageToken=${encodeURIComponent(token)}`]),
  ];
  return `/v1/phone-numbers${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

function noList(userId: string | null): PatchbayError {
  const what = userId === null ? 'no list of phone numbers' : `no list of phone numbers for the user ${userId}`;
  return new PatchbayError('unreachable', noListCode, `The service has ${what} (404).`, {
    facts: { status: 404, user: userId },
    hint:
      userId === null
        ? 'Check that the address is the origin of the service, and that the key may read phone numbers.'
        : 'Check the id of the user: it begins with US and stands with the numbers in: patchbay numbers ls --json',
  });
}
