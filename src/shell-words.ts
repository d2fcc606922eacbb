/**
 * Commands that hints and other texts name: what is printed can be pasted into a shell, works on the same data folder, and is what was meant,
 * whatever people call their things.
 */

/** What moves the cursor of a terminal, or turns the direction of what follows. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A value as one word of a shell. Characters that no text may hold are written as bash and zsh read them: `$'\u202e'`.
 * A value of an option may begin with `-`; for what stands by itself there is `operands`.
 */
export function shellWord(text: string): string {
  if (/^[\w@.+:/-]+%?$/.test(text)) return text;
  if (text.search(unprintable) === -1) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replace(unprintable, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}

/** Keys, files and ids as the last words of a command: `c-17`, or `-- -17`, since a word with `-` in front would be an option. */
export function operands(...words: readonly string[]): string {
  const isOption = words.some((word) => word.startsWith('-') && word !== '-');
  return [...(isOption ? ['--'] : []), ...words.map(shellWord)].join(' ');
}

// As the program has them, which a test holds: to load it takes longer than a short command.
const groups = 'runs|held|dead|schedule|numbers|ledger|hosts|config';
const subcommands =
  'ls|show|approve|restage|undo|cancel|take|retry|edit|drop|export|run|pause|resume|snapshot|history|diff|check|backup|copy|forget|print|schema';
const simpleCommands = 'init|start|import|plan|map|forget|status|contact|audit|logs|doctor';
const commandText = new RegExp(
  `(?<=\\bpatchbay )(?<words>(?:${groups})(?: (?:${subcommands})\\b)?|(?:${simpleCommands}))\\b(?<sandbox> --sandbox)?`,
  'g',
);
/** The commands that know no `--sandbox`. */
const withoutSandbox = /^(init|config)/;

/** What decides which data folder a command opens. */
export interface FolderFlags {
  readonly config?: string;
  readonly data?: string;
  readonly sandbox?: boolean;
}

/** Adds these flags to the commands that a text names. */
export function withFlags(text: string, { config, data, sandbox }: FolderFlags): string {
  const global = [
    ...(config === undefined ? [] : ['--config', shellWord(config)]),
    ...(data === undefined ? [] : ['--data', shellWord(data)]),
  ].map((word) => `${word} `);
  return text.replace(commandText, (_all, words: string, named: string | undefined) => {
    const isSandbox = named !== undefined || (sandbox === true && !withoutSandbox.test(words));
    return `${global.join('')}${words}${isSandbox ? ' --sandbox' : ''}`;
  });
}

/**
 * For `JSON.stringify`: commands in hints get the flags that they have in text. A hint comes with a code; a column that people call
 * `hint` stays as it is.
 */
export function pasteableHints(flags: FolderFlags) {
  return function (this: unknown, name: string, member: unknown): unknown {
    const isHint = name === 'hint' && typeof member === 'string' && isObject(this) && typeof this.code === 'string';
    return isHint ? withFlags(member, flags) : member;
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
