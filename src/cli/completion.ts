/**
 * Completion for shells: a script in which all commands, options and choices are, made of what commander knows. The script starts no
 * Patchbay: it answers at once, and knows the commands of the version that wrote it.
 */
import type { Command, Option } from 'commander';
import type { GlobalOptions } from './open-home.ts';
import { createOutput } from './output.ts';

export type Shell = 'bash' | 'zsh';

/** What may follow a command. */
interface Level {
  /** The words that lead there, each after a space; empty for `patchbay` itself. */
  readonly path: string;
  /** Or the words that an argument may be. */
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  /** Options that a value follows, and the values that it may be; empty where it may be any: files are offered then. */
  readonly valued: ReadonlyMap<string, readonly string[]>;
}

interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** The action of `patchbay completion SHELL`. */
export function printCompletion(program: Command): (options: GlobalOptions, shell: Shell) => Promise<number> {
  return async (options, shell) => {
    const output = createOutput(options);
    const script = completionScript(program, shell);
    if (output.json) output.document({ shell, script });
    else output.line(script);
    return 0;
  };
}

export function completionScript(program: Command, shell: Shell): string {
  const levels = levelsOf(program, '', program.options);
  return shell === 'bash' ? bashScript(levels) : zshScript(levels);
}

/** Ends with the commands of commands: the tree is two deep. */
function levelsOf(command: Command, path: string, globals: readonly Option[]): readonly Level[] {
  const all = path === '' ? globals : [...command.options, ...globals.filter(({ long }) => long !== '--version')];
  const options = all.filter(({ hidden }) => !hidden).flatMap(({ long, description }) => wordOf(long, description));
  const valued = all.flatMap(({ long, argChoices = [], ...one }) =>
    typeof long === 'string' && (one.required || one.optional) ? [[long, argChoices] as const] : [],
  );
  const level: Level = {
    path,
    commands: [
      ...command.commands.map((child) => ({ text: child.name(), meaning: child.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((text) => ({ text, meaning: description })),
      ),
    ],
    options: [...options, { text: '--help', meaning: 'show help' }],
    valued: new Map(valued),
  };
  return [level, ...command.commands.flatMap((child) => levelsOf(child, `${path} ${child.name()}`, globals))];
}

function wordOf(long: string | null | undefined, meaning: string): readonly Word[] {
  return typeof long === 'string' ? [{ text: long, meaning }] : [];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const joined = (words: readonly string[]): string => quoted(words.join(' '));

/** One line of a `case` for each value of an option that has choices. */
function choiceLines(levels: readonly Level[]): string {
  return levels
    .flatMap(({ path, valued }) =>
      [...valued].flatMap(([option, choices]) =>
        choices.length === 0 ? [] : [`    ${quoted(`${path} ${option}`)}) words=${joined(choices)} ;;`],
      ),
    )
    .join('\n');
}

const head = (shell: Shell, howTo: string): string =>
  `# Completion of patchbay for ${shell}, as "patchbay completion ${shell}" printed it: print it again after an update.\n# ${howTo}`;

function bashScript(levels: readonly Level[]): string {
  const at = levels.map(({ path, commands, options, valued }) => {
    const words = (list: readonly Word[]) => joined(list.map(({ text }) => text));
    return `    ${quoted(path)}) commands=${words(commands)} options=${words(options)} valued=${joined([...valued.keys()])} ;;`;
  });
  return `${head('bash', 'In ~/.bashrc: source <(patchbay completion bash)')}

_patchbay_at() {
  case "$1" in
${at.join('\n')}
  esac
}

_patchbay() {
  local commands options valued words word path='' option='' current="\${COMP_WORDS[COMP_CWORD]}" i
  _patchbay_at ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == '=' ]]; then continue
    elif [[ -n $option ]]; then option=''
    elif [[ " $valued " == *" $word "* ]]; then option="$word"
    elif [[ " $commands " == *" $word "* ]]; then path+=" $word"; _patchbay_at "$path"
    fi
  done
  if [[ $current == '=' ]]; then current=''; fi
  words=''
  if [[ -n $option ]]; then case "$path $option" in
${choiceLines(levels)}
  esac
  elif [[ $current == -* ]]; then words="$options"
  else words="$commands"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}

complete -o default -F _patchbay patchbay`;
}

function zshScript(levels: readonly Level[]): string {
  const list = (words: readonly Word[]) =>
    words.map(({ text, meaning }) => quoted(`${text}:${meaning.replaceAll('\n', ' ')}`)).join(' ');
  const at = levels.map(
    ({ path, commands, options, valued }) =>
      `    ${quoted(path)})\n      commands=(${list(commands)})\n      options=(${list(options)})\n      valued=(${[...valued.keys()].join(' ')}) ;;`,
  );
  return `#compdef patchbay
${head('zsh', 'In ~/.zshrc, after compinit: source <(patchbay completion zsh)')}

_patchbay_at() {
  case "$1" in
${at.join('\n')}
  esac
}

_patchbay() {
  local -a commands options valued
  local words_of_option word path_of_command='' option='' i
  _patchbay_at ''
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n $option ]]; then option=''
    elif (( \${valued[(Ie)$word]} )); then option="$word"
    elif (( \${commands[(I)$word:*]} )); then path_of_command+=" $word"; _patchbay_at "$path_of_command"
    fi
  done
  if [[ -n $option ]]; then
    words_of_option=''
    case "$path_of_command $option" in
${choiceLines(levels).replaceAll(') words=', ') words_of_option=')}
    esac
    if [[ -n $words_of_option ]]; then compadd -- \${=words_of_option}; else _files; fi
  elif [[ $PREFIX == -* ]]; then _describe -o option options
  elif (( \${#commands} )); then _describe command commands || _files
  else _files
  fi
}

if [[ "\${funcstack[1]}" == _patchbay ]]; then _patchbay "$@"; else compdef _patchbay patchbay; fi`;
}
