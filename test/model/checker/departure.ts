/** The kinds of departures from the plain course, so that a search can be kept to some of them. */
export const departureKinds = [
  // Of workers.
  'switch',
  'crash',
  'powerCut',
  'ledgerFails',
  'stop',
  'outside',
  // Of time.
  'wallClockJumps',
  'startGuardPasses',
  'readGrowsOld',
  'requestJustFits',
  'leaseEnds',
  'horizonPasses',
  'lateWriteLands',
  // Of requests.
  'readFails',
  'listLags',
  'listShowsOldContents',
  'listLacksMembers',
  'answerLost',
  'landsLate',
  'neverLands',
  'notSent',
  'rateLimited',
] as const;
export type DepartureKind = (typeof departureKinds)[number];

/** What each does, in words. A worker and what it was about to do stand before them. */
export const departureWords: { readonly [Kind in DepartureKind]: string } = {
  switch: 'is held up',
  crash: 'dies',
  powerCut: 'dies with all others: the power is cut',
  ledgerFails: 'meets a ledger that is busy: nothing is written',
  stop: 'is asked to end',
  outside: 'is overtaken by somebody else',
  wallClockJumps: 'sees the wall clock jump ahead by an hour',
  startGuardPasses: 'is slow: the start guard passes',
  readGrowsOld: 'is slow: its read grows old',
  requestJustFits: 'is slow: its request just fits into the lease',
  leaseEnds: 'is slow: the lease ends',
  horizonPasses: 'is slow: the horizon passes',
  lateWriteLands: 'is slow: a late write lands',
  readFails: 'the request fails',
  listLags: 'the list lags',
  listShowsOldContents: 'the list shows what was there before',
  listLacksMembers: 'the list leaves out the e-mails and phones of its contacts',
  answerLost: 'it lands, and the answer is lost',
  landsLate: 'the answer is lost, and it lands as late as can be',
  neverLands: 'the connection is reset, and it never lands',
  notSent: 'it is not sent',
  rateLimited: 'it is answered with 429',
};
