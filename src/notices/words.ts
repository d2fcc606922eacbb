/**
 * A notice as a sentence for people, and the page that it leads to. Pure.
 *
 * Names of feeds, ids of runs, codes, counts, and of a file that waits for its host the names of both, of a schedule that failed what happened and what to do: no other personal data (`docs/rules.md`, "Secrets and personal data").
 */
import { z } from 'zod';
import { type FeedTrouble, troubleWords } from '#src/ledger/deliveries.ts';

export interface Notice {
  /** As `feed.bad`. */
  readonly type: string;
  readonly feed: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const trouble = z.enum(Object.keys(troubleWords) as [FeedTrouble, ...FeedTrouble[]]);
const bad = z.object({
  began: z.array(
    z.object({
      trouble,
      run: z.string().nullable(),
      code: z.string().nullable(),
      dead: z.number().nullable(),
      file: z.string().optional(),
      host: z.string().optional(),
      message: z.string().nullable().default(null),
      hint: z.string().nullable().default(null),
    }),
  ),
});
const recovered = z.object({
  ended: z.array(trouble),
  badSince: z.string(),
  unwatched: z.boolean().default(false),
  cancelled: z.boolean().default(false),
});
const held = z.object({ fields: z.number() });
const numbers = z.object({ added: z.number(), removed: z.number(), changedNumbers: z.number() });

type Began = z.infer<typeof bad>['began'][number];

/**
 * One sentence, as `Patchbay (berlin): crm needs attention: no new export has come within the expected time.`
 * @param installation the name of this installation; null: it has none.
 */
export function sentenceOf(notice: Notice, installation: string | null): string {
  return `Patchbay${installation === null ? '' : ` (${installation})`}: ${wordsOf(notice)}.`;
}

function wordsOf({ type, feed, data }: Notice): string {
  switch (type) {
    case 'feed.bad': {
      const { began } = bad.parse(data);
      return `${feed} needs attention: ${began.map(troubleSentence).join('; ')}`;
    }
    case 'feed.recovered': {
      const { ended, badSince, ...end } = recovered.parse(data);
      return `${feed} ${endWords(end)}; before, from ${badSince.slice(0, 16)}Z on: ${ended.map((one) => troubleWords[one]).join(', ')}`;
    }
    case 'feed.held': {
      const { fields } = held.parse(data);
      return `${feed}: ${fields === 1 ? '1 field waits' : `${fields} fields wait`} for a decision, since file and app changed it differently`;
    }
    case 'phoneNumbers.changed': {
      const { added, removed, changedNumbers } = numbers.parse(data);
      return `phone numbers changed: ${added} added, ${removed} removed, ${changedNumbers} changed`;
    }
    default:
      return `${type} of ${feed}`;
  }
}

function endWords({ unwatched, cancelled }: Pick<z.infer<typeof recovered>, 'unwatched' | 'cancelled'>): string {
  if (unwatched) return 'is no longer watched for this: it was removed from the configuration';
  if (cancelled) return 'is back to its state before the stopped run, which was cancelled; no decision is pending';
  return 'is healthy again';
}

function troubleSentence({ trouble, run, code, dead, file, host }: Began): string {
  const because = code === null ? '' : ` (${code})`;
  switch (trouble) {
    case 'deadRows':
      return `${dead === 1 ? '1 row was' : `${dead ?? 'some'} rows were`} rejected in run ${run ?? 'unknown'}`;
    case 'guard':
      return `run ${run ?? 'unknown'} was stopped by a guard${because} and waits for a decision`;
    case 'failed':
      return run === null ? `its schedule failed${because}` : `the file of run ${run} could not be read${because}`;
    case 'outage':
      return `work waits for ${code?.startsWith('queue') === true ? 'the queue' : 'the service or its key'}${because}`;
    case 'hostAway':
      return `the file ${file ?? 'of its next run'} is on the host ${host ?? 'unknown'}, which is away; later files go on without it`;
    case 'missed':
      return 'no new export has come within the expected time';
  }
}

/** Behind the sentence: what happened, and what to do next, as far as the notice says so. A line each. */
export function detailsOf({ type, data }: Notice): readonly string[] {
  const began = type === 'feed.bad' ? bad.parse(data).began : [];
  return began.flatMap(({ message, hint }) => [
    ...(message === null ? [] : [`What happened: ${message.replace(/\.$/, '')}.`]),
    ...(hint === null ? [] : [`What to do: ${hint.replaceAll('\n', ' ')}`]),
  ]);
}

/**
 * The page of the run behind it, else that of the feeds.
 * @param pageAddress where people reach the page; null: nowhere, and so there is no link.
 */
export function linkOf({ type, data }: Notice, pageAddress: string | null): string | null {
  if (pageAddress === null) return null;
  const began = type === 'feed.bad' ? bad.parse(data).began : [];
  const run = began.find((one) => one.run !== null)?.run ?? null;
  return `${pageAddress}${run === null ? '/feeds' : `/runs/${encodeURIComponent(run)}`}`;
}

const linkText = 'Open in Patchbay';

/** The body for an incoming webhook of Slack. */
export function slackBody(sentence: string, link: string | null, details: readonly string[] = []): string {
  const lines = [sentence, ...details].join('\n');
  const text = lines.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return JSON.stringify({ text: link === null ? text : `${text} <${link}|${linkText}>` });
}

/** The body for a workflow of Teams that posts what it receives: a message with an adaptive card. */
export function teamsBody(sentence: string, link: string | null, details: readonly string[] = []): string {
  const actions = link === null ? [] : [{ type: 'Action.OpenUrl', title: linkText, url: link }];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    // A text block reads Markdown: names of feeds may hold its signs.
    body: [sentence, ...details].map((line) => {
      return { type: 'TextBlock', text: line.replaceAll(/([\\*_`[\]])/g, '\\$1'), wrap: true };
    }),
    actions,
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content }] });
}
