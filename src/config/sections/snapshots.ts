/** Settings of the snapshots (`rules.md`, "Snapshots" and "Schedules"). */
import { z } from 'zod';
import { cron, duration, timeZone, wholeNumber } from '../forms.ts';

const phoneNumbers = z
  .strictObject({
    every: duration('10s', '366d')
      .nullable()
      .default(null)
      .describe('How often a snapshot is taken; null, and no at either, means by hand only.'),
    at: cron()
      .nullable()
      .default(null)
      .describe('When a snapshot is taken, as a cron expression of five fields, instead of every.'),
    zone: timeZone()
      .nullable()
      .default(null)
      .describe("The IANA time zone of at; null means the zone of TZ, or the machine's."),
    keep: duration('1d', '3650d').prefault('400d').describe('How long snapshots are kept; the last one always stays.'),
    keepMax: wholeNumber(2, 100_000).default(10_000).describe('So many snapshots are kept at most.'),
  })
  .describe('Snapshots of the phone numbers and of the users who share them.');

export const snapshotsSection = z
  .strictObject({ phoneNumbers: phoneNumbers.prefault({}) })
  .describe('What is looked at and kept as history.');
