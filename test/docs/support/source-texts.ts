/** The words of a source file: its comments and its string literals, each with the line on which it begins. */

export interface SourceText {
  readonly kind: 'comment' | 'message';
  readonly line: number;
  /** One line: what joins the lines of a comment is a space. */
  readonly text: string;
}

/**
 * Reads TypeScript without a parser, well enough for prose: comments, strings and templates, also those inside the holes
 * of templates; regular expressions are left out. Line comments that follow each other are one text.
 */
export function sourceTexts(source: string): readonly SourceText[] {
  const texts: SourceText[] = [];
  /** Ends: each turn of the loop moves `at` ahead. */
  let at = 0;
  let before = '';
  const holes: number[] = [];
  let depth = 0;
  const add = (kind: SourceText['kind'], start: number, text: string): void => {
    const line = source.slice(0, start).split('\n').length;
    const last = texts.at(-1);
    if (kind === 'comment' && text.startsWith('//') && last?.kind === 'comment' && isNextLine(last, line)) {
      texts[texts.length - 1] = { ...last, text: `${last.text} ${plain(text)}` };
      lineOfLast = line;
      return;
    }
    texts.push({ kind, line, text: plain(text) });
    lineOfLast = line;
  };
  let lineOfLast = 0;
  const isNextLine = (last: SourceText, line: number): boolean => last.line <= lineOfLast && line === lineOfLast + 1;
  const readTemplate = (from: number): number => {
    let end = from;
    while (end < source.length && source[end] !== '`') {
      if (source[end] === '\\') end += 1;
      else if (source.startsWith('${', end)) {
        holes.push(depth);
        add('message', from, source.slice(from, end));
        return end + 2;
      }
      end += 1;
    }
    add('message', from, source.slice(from, end));
    return end + 1;
  };
  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const char = source[at] ?? '';
    if (rest === '/*') {
      const end = source.indexOf('*/', at + 2);
      const to = end === -1 ? source.length : end + 2;
      add('comment', at, source.slice(at, to));
      at = to;
      continue;
    }
    if (rest === '//') {
      const end = source.indexOf('\n', at);
      const to = end === -1 ? source.length : end;
      add('comment', at, source.slice(at, to));
      at = to;
      continue;
    }
    if (char === "'" || char === '"') {
      const to = endOfQuoted(source, at);
      add('message', at, source.slice(at + 1, to - 1));
      at = to;
      before = char;
      continue;
    }
    if (char === '`') {
      at = readTemplate(at + 1);
      before = char;
      continue;
    }
    if (char === '/' && /[(,=:[!&|?{};+\n]|^$|return/.test(before)) {
      at = endOfRegExp(source, at);
      before = '/';
      continue;
    }
    if (char === '{') depth += 1;
    if (char === '}') {
      if (holes.length > 0 && holes.at(-1) === depth) {
        holes.pop();
        at = readTemplate(at + 1);
        before = '`';
        continue;
      }
      depth -= 1;
    }
    if (char.trim() !== '') before = char === 'n' && source.slice(at - 5, at + 1) === 'return' ? 'return' : char;
    at += 1;
  }
  return texts;
}

function endOfQuoted(source: string, start: number): number {
  let end = start + 1;
  while (end < source.length && source[end] !== source[start] && source[end] !== '\n')
    end += source[end] === '\\' ? 2 : 1;
  return end + 1;
}

function endOfRegExp(source: string, start: number): number {
  let end = start + 1;
  let inClass = false;
  while (end < source.length && source[end] !== '\n') {
    const char = source[end];
    if (char === '\\') end += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return end + 1;
    end += 1;
  }
  return end;
}

function plain(text: string): string {
  return text
    .replace(/^\/\*+|\*+\/$|^\/\//g, '')
    .replace(/\n\s*\*? ?/g, ' ')
    .replaceAll("\\'", "'")
    .trim();
}
