/**
 * Plain technical English: expressions that a native technical writer would not use here, each with what to write instead.
 *
 * Held in the documents, in every message and help text (string literals), and in comments.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents, root } from './support/read-document.ts';
import { type SourceText, sourceTexts } from './support/source-texts.ts';

/** Where an expression is banned: `people` are documents, messages and help texts; `all` is that and every comment. */
type Scope = 'all' | 'people';

const banned: readonly (readonly [RegExp, string, Scope])[] = [
  [/\bso (?:many|often)\b/i, '"at most N", the constant\'s name, or "as many"', 'all'],
  [/\bso (?:long|much)\b(?! as)/i, '"this long", "up to", or the constant\'s name', 'all'],
  [/\bwhoever\b/i, 'name the caller, the process, the user', 'all'],
  [/\bwho(?:m|ever) (?:still )?waits\b/i, '"callers that wait"', 'all'],
  [
    /\bstands? (?:in|at|there|beside|before|behind|on|under|above|alone|for itself)\b/i,
    '"is in", "is", "appears in"',
    'all',
  ],
  [/\bstood (?:in|at|there|beside)\b/i, '"was"', 'all'],
  [/\b(?:is|are|was|were|be|been|being) told\b(?! (?:apart|to))/i, '"is reported", "is notified"', 'all'],
  [/\bmend(?:s|ed|ing)?\b/i, '"fix", "correct", "repair"', 'all'],
  [/(?<!\w)besides(?=[,:;.)]|$)|^besides\b/i, '"also", "as well"', 'all'],
  [/\bnobody's\b/i, '"owned by no feed"', 'people'],
  [/\b(?:nobody|somebody|everybody)\b/i, 'name the user, the process, the owner', 'all'],
  [/\bdead rows?\b/i, '"rejected rows" (the dead letter is what is kept of one)', 'all'],
  [/\b(?:row|rows|one|all) (?:is|are|was) dead\b/i, '"is rejected"', 'people'],
  [/\bleave one of them away\b/i, '"remove one of them"', 'all'],
  [/\bhere must stand\b/i, '"expected … here"', 'all'],
  [/\bpassed over\b/i, '"skipped"', 'people'],
  [/\bit does the work\b/i, '"an engine is already running"', 'people'],
  [/\bthe configuration is right\b/i, '"configuration OK"', 'people'],
  [/\bnothing maps these columns\b/i, '"ignored columns (not in the mapping)"', 'people'],
  [/\bis (?:no )?news\b/i, '"raises an alert", "is nothing new"', 'people'],
  [/\bequal to the exports\b/i, '"in sync with the exports"', 'all'],
  [/\bfor ever\b/i, '"forever", or how long', 'people'],
  [/\bis what was tried\b/i, '"tested with"', 'all'],
  [/\bat work\b/i, '"running"', 'people'],
  [/\bof the matter\b|\bthe matter with\b/i, '"wrong with"', 'all'],
  [/\bhouse style\b/i, 'write the sentence itself', 'all'],
];

function found(text: string, scopes: readonly Scope[]): readonly string[] {
  return banned.flatMap(([pattern, instead, scope]) => {
    const match = scopes.includes(scope) ? pattern.exec(text) : null;
    return match === null
      ? []
      : [`"${match[0]}" (${instead}): …${text.slice(Math.max(0, match.index - 40), match.index + 60)}…`];
  });
}

const sources = ['src', 'jobs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|tsx|mjs)$/.test(name))
    .map((name) => join(folder, name)),
);
const otherDocuments = [
  'src/README.md',
  'src/upsert/README.md',
  'src/service/README.md',
  'test/model/README.md',
  'test/bench/README.md',
  'config/patchbay.example.yaml',
  'CHANGELOG.md',
];

function textsOf(path: string, kind: SourceText['kind']): readonly SourceText[] {
  const texts = sourceTexts(readFileSync(join(root, path), 'utf8')).filter((text) => text.kind === kind);
  // An SQL statement or a code is no sentence.
  return kind === 'comment'
    ? texts
    : texts.filter(({ text }) => text.includes(' ') && !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE)\b/.test(text));
}

/** Without what other tests hold: outputs of commands, and what is generated from messages. */
function prose(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$|^<!-- (?!layers)(\w+) -->$[\s\S]*?^<!-- \/\1 -->$/gm, (part) =>
    part.replaceAll(/[^\n]/g, ''),
  );
}

describe('plain technical English', () => {
  it.each([...documents, ...otherDocuments])('in %s', (path) => {
    const lines = prose(readFileSync(join(root, path), 'utf8')).split('\n');
    expect(
      lines.flatMap((line, index) => found(line, ['all', 'people']).map((one) => `${path}:${index + 1} ${one}`)),
    ).toEqual([]);
  });

  it('in messages, hints and help texts', () => {
    const hits = sources.flatMap((path) =>
      textsOf(path, 'message').flatMap(({ line, text }) =>
        found(text, ['all', 'people']).map((one) => `${path}:${line} ${one}`),
      ),
    );
    expect(hits).toEqual([]);
  });

  it('in comments', () => {
    const hits = sources.flatMap((path) =>
      textsOf(path, 'comment').flatMap(({ line, text }) => found(text, ['all']).map((one) => `${path}:${line} ${one}`)),
    );
    expect(hits).toEqual([]);
  });
});
