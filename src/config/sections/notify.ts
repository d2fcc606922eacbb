/** Settings of the notices: changes of phone numbers, feeds that go bad and recover (`rules.md`, "Snapshots"). */
import { z } from 'zod';
import { checkedText, duration, path, secret } from '../forms.ts';
import { isPrivateHost } from '../private-host.ts';
import { settingTraits } from '../traits.ts';

const expectedUrl =
  'an https URL such as https://hooks.example.com/patchbay, or an http one of this machine or a private network';

export const notifySection = z
  .strictObject({
    url: checkedText(expectedUrl, webhookProblem)
      .nullable()
      .default(null)
      .describe('The webhook that notices and changes of phone numbers are posted to; null means none.')
      .register(settingTraits, { secret: 'path' }),
    secret: secret()
      .nullable()
      .default(null)
      .describe('The secret that posts are signed with, given by the environment only; null means the secret file.')
      .register(settingTraits, { secret: 'whole', environmentOnly: true }),
    secretFile: path()
      .nullable()
      .default(null)
      .describe('A file of mode 0600 that holds the secret that posts are signed with.')
      .register(settingTraits, { path: true }),
    outageAfter: duration('0s', '7d').prefault('1m').describe('How long the service must be away before that is told.'),
  })
  .describe('The webhook that is told of changes, of feeds that went bad and of those that recovered.');

/** Null where the text is such a URL; never holds the URL, whose path may be a secret. */
function webhookProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:\/\//i.test(text)) return expectedUrl;
  if (url.username !== '' || url.password !== '') return 'a URL without user name and password';
  return url.protocol === 'https:' || isPrivateHost(url.hostname) ? null : expectedUrl;
}
