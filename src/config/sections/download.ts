/** Settings of files that feeds take from URLs (`contract.md`, "Feeds and schedules, in the config"). */
import { z } from 'zod';
import { duration, hostNames, wholeNumber, yesOrNo } from '../forms.ts';

export const downloadSection = z
  .strictObject({
    hosts: hostNames()
      .default([])
      .describe("Further hosts that a redirect of a feed's URL may lead to; without them it stays on its own host."),
    privateAddresses: yesOrNo()
      .default(false)
      .describe('Whether files may come from this machine or a private network, and by plain http.'),
    bytesMax: wholeNumber(1, 100_000_000_000)
      .default(1_000_000_000)
      .describe('A download that is larger than this many bytes is refused.'),
    timeout: duration('1s', '25m').prefault('10m').describe('How long one download may take as a whole.'),
  })
  .describe('Files that feeds take from URLs.');
