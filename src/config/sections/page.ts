/** Settings of the web page and its probes (`rules.md`, "Secrets and personal data"). */
import { z } from 'zod';
import { checkedText, secret, wholeNumber } from '../forms.ts';
import { settingTraits } from '../traits.ts';

const expectedHost = 'an address or host name such as 127.0.0.1, without a port';

export const pageSection = z
  .strictObject({
    host: checkedText(expectedHost, (text) => (/^[0-9A-Za-z.:_-]{1,253}$/.test(text) ? null : expectedHost))
      .default('127.0.0.1')
      .describe('The address the page listens on; off loopback a token is needed.')
      .register(settingTraits, { env: 'HOST' }),
    port: wholeNumber(0, 65_535)
      .nullable()
      .default(null)
      .describe('The port of the page; 0 takes any free one, null takes 8080 or the next free one.')
      .register(settingTraits, { env: 'PORT' }),
    token: secret()
      .nullable()
      .default(null)
      .describe('The token that opens the page; null means none, which only loopback allows.')
      .register(settingTraits, { env: 'PATCHBAY_TOKEN', secret: 'whole' }),
  })
  .describe('The web page and its probes.');
