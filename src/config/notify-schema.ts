/**
 * The section `notify`: to whom notices of feeds, and changes of phone numbers, are delivered. Each addressee is optional, and several may be
 * set: a webhook, a channel of Slack, a channel of Teams, e-mail.
 */
import { z } from 'zod';
import { checkedText, duration, isPrivateHost, path, secret, sentence, settingTraits } from './forms.ts';

const expectedWebhook =
  'an https URL such as https://hooks.example.com/patchbay, or an http one of this machine or a private network';

/** Null where the text is such a URL; the answer never holds the URL, whose path may be a secret. */
function webhookProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:\/\//i.test(text)) return expectedWebhook;
  if (url.username !== '' || url.password !== '') return 'a URL without user name and password';
  return url.protocol === 'https:' || isPrivateHost(url.hostname) ? null : expectedWebhook;
}

/** A URL that is a secret itself: it is all that a post needs. */
function postingUrl(description: string) {
  return checkedText(expectedWebhook, webhookProblem)
    .nullable()
    .default(null)
    .describe(description)
    .register(settingTraits, { secret: 'path' });
}

const expectedServer = 'a URL such as smtp://mail.example.com:587 or smtps://mail.example.com:465';

function serverProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^smtps?:\/\//i.test(text) || url.hostname === '') return expectedServer;
  if (url.username !== '' || url.password !== '') return `${expectedServer}, without user name and password`;
  return /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '' ? null : expectedServer;
}

const expectedAddress = 'an e-mail address such as contacts@example.com';
const addressPattern = /^[^\s@<>,;:"()\\]{1,64}@[A-Za-z0-9.-]{1,253}$/;
const addressesMax = 20;

function mailAddresses() {
  const expected = `a list of e-mail addresses such as [it@example.com, crm@example.com], at most ${addressesMax}`;
  const list = z
    .array(z.string({ error: expected }).regex(addressPattern, { error: expected }), { error: expected })
    .max(addressesMax, { error: expected });
  return z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((text) => text.trim()) : value),
    list.readonly(),
  );
}

const mailGroup = z
  .strictObject({
    server: checkedText(expectedServer, serverProblem)
      .nullable()
      .default(null)
      .describe(
        'The mail server; smtp:// is encrypted by STARTTLS, except on a private network; null means no e-mail.',
      ),
    from: checkedText(expectedAddress, (text) => (addressPattern.test(text) ? null : expectedAddress))
      .nullable()
      .default(null)
      .describe('The address that e-mails are sent from.'),
    to: mailAddresses().default([]).describe('The addresses that e-mails are sent to.'),
    user: checkedText('a user name', (text) => (/^[\x21-\x7e]{1,320}$/.test(text) ? null : 'a user name'))
      .nullable()
      .default(null)
      .describe('The user name at the mail server; null means that it needs none.'),
    password: secret()
      .nullable()
      .default(null)
      .describe('The password at the mail server, given by the environment only; null means the password file.')
      .register(settingTraits, { secret: 'whole', environmentOnly: true }),
    passwordFile: path()
      .nullable()
      .default(null)
      .describe('A file of mode 0600 that holds the password at the mail server.')
      .register(settingTraits, { path: true }),
  })
  .superRefine(({ server, from, to }, context) => {
    if (server === null) return;
    if (from === null) sentence(context, ['from'], 'must be set as well, where server is', 'server');
    if (to.length === 0) sentence(context, ['to'], 'must be set as well, where server is', 'server');
  })
  .describe('E-mails with notices.');

export const notifySection = z
  .strictObject({
    url: postingUrl('The webhook that notices and changes of phone numbers are posted to; null means none.'),
    secret: secret()
      .nullable()
      .default(null)
      .describe(
        'The secret that posts are signed with, given by the environment only: whsec_ and base64 of at least 16 bytes, or any text of at least 16 characters; null means the secret file.',
      )
      .register(settingTraits, { secret: 'whole', environmentOnly: true }),
    secretFile: path()
      .nullable()
      .default(null)
      .describe('A file of mode 0600 that holds the secret that posts are signed with.')
      .register(settingTraits, { path: true }),
    outageAfter: duration('0s', '7d')
      .prefault('1m')
      .describe('How long the service must be unavailable before a notice is sent.'),
    slack: z
      .strictObject({ url: postingUrl('The incoming webhook of a channel in Slack; null means none.') })
      .prefault({})
      .describe('Notices as a sentence with a link, in Slack.'),
    teams: z
      .strictObject({ url: postingUrl('The URL of a workflow that posts to a channel in Teams; null means none.') })
      .prefault({})
      .describe('Notices as a sentence with a link, in Microsoft Teams.'),
    mail: mailGroup.prefault({}),
  })
  .describe('Who receives changes of phone numbers, and notices of feeds that fail or recover.');
