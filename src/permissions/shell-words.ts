/**
 * The words and operators of a shell command line. Quotes are taken off, comments and here-documents are left out, and a
 * word remembers whether the shell would still change it. What is not understood is a failure, never a guess.
 */
import { fail, ok, type Result } from '../base/result.ts';

export interface Word {
  readonly text: string;
  /** The shell puts something in its place: a variable, a substitution, the names that a pattern fits. */
  readonly dynamic: boolean;
  /** A part of it was quoted, so that it is no keyword, operator or assignment. */
  readonly quoted: boolean;
}

export type Token =
  | { readonly kind: 'word'; readonly word: Word }
  | { readonly kind: 'operator'; readonly text: string }
  /** A redirection; its target is the next word, which is not part of the list. */
  | { readonly kind: 'redirect'; readonly text: string; readonly target: Word };

/** The longest first, so that `&&` is not read as two. */
const OPERATORS = ['&&', '||', ';;', '|&', ';', '&', '|', '(', ')', '\n'];
const REDIRECTS = ['&>>', '<<<', '<<-', '&>', '>>', '<<', '>&', '<&', '>|', '<>', '>', '<'];
const LINE_MAX = 100_000;

export function shellTokens(line: string): Result<readonly Token[], string> {
  if (line.length > LINE_MAX) return fail('it is too long to be understood');
  const reader = new Reader(line);
  const tokens: Token[] = [];
  const documents: { readonly end: string; readonly tabs: boolean }[] = [];
  for (;;) {
    reader.skipBlanks();
    if (reader.done()) return documents.length > 0 ? fail('a here-document has no end') : ok(tokens);
    const redirect = reader.redirect();
    if (redirect !== undefined) {
      reader.skipBlanks();
      const target = reader.word();
      if (!target.ok) return target;
      if (target.value === undefined) return fail('a redirection has no target');
      if (redirect === '<<' || redirect === '<<-') documents.push({ end: target.value.text, tabs: redirect === '<<-' });
      tokens.push({ kind: 'redirect', text: redirect, target: target.value });
      continue;
    }
    const operator = OPERATORS.find((one) => reader.at(one));
    if (operator !== undefined) {
      reader.take(operator.length);
      tokens.push({ kind: 'operator', text: operator === '\n' ? ';' : operator });
      if (operator !== '\n') continue;
      for (const { end, tabs } of documents.splice(0))
        if (!reader.skipDocument(end, tabs)) return fail('a here-document has no end');
      continue;
    }
    const word = reader.word();
    if (!word.ok) return word;
    if (word.value !== undefined) tokens.push({ kind: 'word', word: word.value });
  }
}

class Reader {
  private position = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  done(): boolean {
    return this.position >= this.text.length;
  }

  at(piece: string): boolean {
    return this.text.startsWith(piece, this.position);
  }

  take(count: number): string {
    const taken = this.text.slice(this.position, this.position + count);
    this.position += count;
    return taken;
  }

  skipBlanks(): void {
    for (;;) {
      if (this.at('\\\n')) this.position += 2;
      else if (/[ \t\r]/.test(this.text[this.position] ?? '')) this.position += 1;
      else if (this.at('#')) this.position = endOr(this.text, '\n', this.position);
      else return;
    }
  }

  /** `2>&1`, `>>`, `&>` and the like, with the number in front. */
  redirect(): string | undefined {
    const digits = /^\d+(?=[<>])/.exec(this.text.slice(this.position, this.position + 10))?.[0] ?? '';
    const found = REDIRECTS.find((one) => this.text.startsWith(one, this.position + digits.length));
    if (found === undefined || (found.startsWith('&') && digits !== '')) return undefined;
    // `<(…)` is a substitution that stands for a file.
    if ((found === '<' || found === '>') && this.text[this.position + digits.length + 1] === '(') return undefined;
    this.position += digits.length + found.length;
    return found;
  }

  skipDocument(end: string, tabs: boolean): boolean {
    while (!this.done()) {
      const stop = endOr(this.text, '\n', this.position);
      const line = this.text.slice(this.position, stop);
      this.position = Math.min(this.text.length, stop + 1);
      if ((tabs ? line.replace(/^\t+/, '') : line) === end) return true;
    }
    return false;
  }

  word(): Result<Word | undefined, string> {
    let text = '';
    let [dynamic, quoted, begun] = [false, false, false];
    while (!this.done()) {
      const next = this.text[this.position] ?? '';
      if (/[\s;&|()<>]/.test(next)) {
        if (/[<>]/.test(next) && this.text[this.position + 1] === '(') return fail('it uses process substitution');
        break;
      }
      begun = true;
      const piece = this.piece(next);
      if (!piece.ok) return piece;
      text += piece.value.text;
      dynamic ||= piece.value.dynamic;
      quoted ||= piece.value.quoted;
    }
    return ok(begun ? { text, dynamic, quoted } : undefined);
  }

  private piece(next: string): Result<Word, string> {
    if (next === "'") return this.singleQuoted();
    if (next === '"') return this.doubleQuoted();
    if (next === '\\') {
      const escaped = this.take(2).slice(1);
      return ok({ text: escaped === '\n' ? '' : escaped, dynamic: false, quoted: true });
    }
    if (next === '$' || next === '`') return this.expansion();
    return ok({ text: this.take(1), dynamic: /[*?[{~]/.test(next), quoted: false });
  }

  private singleQuoted(): Result<Word, string> {
    const end = this.text.indexOf("'", this.position + 1);
    if (end < 0) return fail('a quote is not closed');
    const text = this.text.slice(this.position + 1, end);
    this.position = end + 1;
    return ok({ text, dynamic: false, quoted: true });
  }

  private doubleQuoted(): Result<Word, string> {
    this.position += 1;
    let text = '';
    let dynamic = false;
    while (!this.done()) {
      const next = this.text[this.position] ?? '';
      if (next === '"') {
        this.position += 1;
        return ok({ text, dynamic, quoted: true });
      }
      if (next === '\\' && /[$`"\\\n]/.test(this.text[this.position + 1] ?? '')) text += this.take(2).slice(1).replace('\n', '');
      else if (next === '$' || next === '`') {
        const inner = this.expansion();
        if (!inner.ok) return inner;
        text += inner.value.text;
        dynamic ||= inner.value.dynamic;
      } else text += this.take(1);
    }
    return fail('a quote is not closed');
  }

  /** `$NAME`, `${…}`, `$(…)`, `` `…` ``: kept as it is written, because only the shell knows what it stands for. */
  private expansion(): Result<Word, string> {
    const rest = this.text.slice(this.position);
    if (rest.startsWith("$'") || rest.startsWith('$"')) return fail('it uses a kind of quotes that is not understood');
    const simple = /^\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(rest)?.[0];
    if (simple !== undefined) return ok({ text: this.take(simple.length), dynamic: true, quoted: false });
    const length = rest.startsWith('$(') ? closing(rest, 1) : rest.startsWith('${') ? closing(rest, 1) : ticks(rest);
    if (length === undefined) return fail('a substitution is not closed');
    return ok({ text: this.take(length), dynamic: length > 1, quoted: false });
  }
}

function endOr(text: string, what: string, from: number): number {
  const end = text.indexOf(what, from);
  return end < 0 ? text.length : end;
}

/** The length up to the bracket that closes the one at `from`; quotes inside are passed over. */
function closing(text: string, from: number): number | undefined {
  const pairs: Readonly<Record<string, string>> = { '(': ')', '{': '}' };
  const open = text[from] ?? '';
  const close = pairs[open];
  let depth = 0;
  for (let index = from; index < text.length; index += 1) {
    const next = text[index];
    if (next === '\\') index += 1;
    else if (next === "'" || next === '"') {
      const end = text.indexOf(next, index + 1);
      if (end < 0) return undefined;
      index = end;
    } else if (next === open) depth += 1;
    else if (next === close) {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}

/** A lone `$` is one; backquotes go to the next one. */
function ticks(text: string): number | undefined {
  if (text[0] === '$') return 1;
  const end = text.indexOf('`', 1);
  return end < 0 ? undefined : end + 1;
}
