/**
 * A command line taken apart for permissions: every simple command in it, wherever it stands, also in `$(…)` and backquotes.
 *
 * It answers for two shells at once, because `/bin/sh` is dash on one machine and bash on another: what the two read differently,
 * and all that is rare enough not to be worth the risk (loops, functions, arrays, arithmetic), is a failure, and a failure asks.
 */
import { fail, ok, type Result } from '../base/result.ts';

export interface LineWord {
  readonly text: string;
  /** The shell puts something else in its place, so that nobody knows how it will read. */
  readonly dynamic: boolean;
}

/** One simple command. */
export interface LinePart {
  /** `NAME=value` in front of it. */
  readonly assignments: readonly LineWord[];
  readonly words: readonly LineWord[];
  /** It reads or writes a file that is no argument of it. */
  readonly redirected: boolean;
}

const LINE_MAX = 100_000;
const DEPTH_MAX = 12;
/** What a screen does not show, or a shell may not take for what it looks like. Newline and tab are what they are. */
const UNSEEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Co}\p{Cn}\p{Cs}]/u;
export const RESERVED: ReadonlySet<string> = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'do', 'done', 'case', 'esac', 'while', 'until', 'for', 'in'],
  ...['select', 'function', 'coproc', '[[', ']]', '{', '}', '!'],
]);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const REDIRECT = /^\d*(?:<<<|<<-|<<|<>|<&|<\(|<|>>|>&|>\||>\(|>)/;
/** Where output goes without changing a file. */
const NOWHERE: ReadonlySet<string> = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);

export function lineParts(line: string): Result<readonly LinePart[], string> {
  if (line.length > LINE_MAX) return fail('it is too long to be understood');
  if (UNSEEN.test(line)) return fail('it has signs in it that do not show');
  // It is taken out before anything else is read, even between a `$` and its bracket.
  if (line.includes('\\\n')) return fail('a line of it goes on in the next one');
  const reader = new LineReader(line, 0);
  reader.list('end');
  if (reader.problem !== undefined) return fail(reader.problem);
  return reader.parts.length === 0 ? fail('it is empty') : ok(reader.parts);
}

type End = 'end' | ')' | '}';

class LineReader {
  readonly parts: LinePart[] = [];
  problem: string | undefined;
  private position = 0;
  private documents: { readonly end: string; readonly tabs: boolean; readonly quoted: boolean }[] = [];
  private readonly text: string;
  private depth: number;

  constructor(text: string, depth: number) {
    this.text = text;
    this.depth = depth;
  }

  /** Up to its end, which is not taken. */
  list(end: End): undefined {
    let found = false;
    for (;;) {
      this.blanks(true);
      if (this.isDone()) return end === 'end' && this.documents.length === 0 ? undefined : this.stop('something is not closed');
      if (end === ')' ? this.at(')') : end === '}' && this.bareWord() === '}')
        return found ? undefined : this.stop('a bracket holds nothing');
      this.andOr();
      found = true;
      this.blanks(false);
      if (this.at(';;') || this.at(';&') || this.at('&>')) return this.stop('it is not understood');
      if (this.at(';') || this.at('&')) this.position += 1;
      else if (!this.isDone() && !this.at('\n') && !(end === ')' && this.at(')'))) return this.stop('it is not understood');
    }
  }

  private andOr(): undefined {
    for (;;) {
      this.pipeline();
      this.blanks(false);
      if (!this.at('&&') && !this.at('||')) return;
      this.position += 2;
      this.blanks(true);
    }
  }

  private pipeline(): undefined {
    while (this.bareWord() === '!') {
      this.position += 1;
      this.blanks(false);
    }
    for (;;) {
      this.command();
      this.blanks(false);
      if (!this.at('|') || this.at('||')) return;
      if (this.at('|&')) return this.stop('it uses `|&`');
      this.position += 1;
      this.blanks(true);
    }
  }

  private command(): undefined {
    if (this.at('((')) return this.stop('it uses arithmetic');
    if (this.at('(')) return this.bracketed(')');
    if (this.bareWord() === '{') return this.bracketed('}');
    this.simple();
  }

  private bracketed(end: ')' | '}'): undefined {
    if (this.documents.length > 0) return this.stop('a here-document stands before a bracket');
    this.position += 1;
    this.nested(() => this.list(end));
    this.position += 1;
    let redirected = false;
    for (let found = this.redirect(); found !== undefined; found = this.redirect()) redirected ||= found;
    if (redirected) this.parts.push({ assignments: [], words: [], redirected });
  }

  private simple(): undefined {
    const assignments: LineWord[] = [];
    const words: LineWord[] = [];
    let [redirected, begun] = [false, false];
    for (;;) {
      const found = this.redirect();
      begun ||= found !== undefined;
      redirected ||= found === true;
      if (found !== undefined) continue;
      if (this.isDone() || /[;&|\n)]/.test(this.next())) break;
      const bare = this.bareWord();
      if (words.length === 0 && bare !== undefined && RESERVED.has(bare)) return this.stop(`it uses \`${bare}\``);
      const isAssignment = words.length === 0 && ASSIGNMENT.test(this.text.slice(this.position, this.position + 1_000));
      const word = this.word();
      if (word === undefined) return this.stop('it defines a function or an array');
      (isAssignment ? assignments : words).push(word);
    }
    if (!begun && words.length + assignments.length === 0) return this.stop('it is not understood');
    this.parts.push({ assignments, words, redirected });
  }

  /** Whether a redirection that stands here is about a file; `undefined` when none does. */
  private redirect(): boolean | undefined {
    this.blanks(false);
    const found = REDIRECT.exec(this.text.slice(this.position, this.position + 20))?.[0];
    if (found === undefined || this.isDone()) return undefined;
    const operator = found.replace(/^\d+/, '');
    if (operator === '<<<' || operator.endsWith('(')) return this.stop(`it uses \`${operator}\``);
    this.position += found.length;
    this.blanks(false);
    const start = this.position;
    const target = this.word();
    if (target === undefined) return this.stop('a redirection has no target');
    if (operator === '<<' || operator === '<<-') {
      const quoted = /["'\\]/.test(this.text.slice(start, this.position));
      if (target.dynamic || target.text.includes('\n')) return this.stop('the end of a here-document is not plain');
      this.documents.push({ end: target.text, tabs: operator === '<<-', quoted });
      return false;
    }
    if (operator.endsWith('&') && /^(?:\d{1,3}|-)$/.test(target.text) && !target.dynamic) return false;
    return target.dynamic || !(operator === '<' ? target.text === '/dev/null' : NOWHERE.has(target.text)) || operator === '<>';
  }

  private word(): LineWord | undefined {
    let [text, dynamic, begun] = ['', false, false];
    while (!this.isDone() && !/[ \t\n;&|()<>]/.test(this.next())) {
      begun = true;
      const next = this.next();
      if (next === "'") text += this.singleQuoted();
      else if (next === '"') {
        const inner = this.doubleQuoted();
        text += inner.text;
        dynamic ||= inner.dynamic;
      } else if (next === '\\') {
        if (this.position + 1 >= this.text.length) this.stop('it ends with a backslash');
        else text += this.take(2).slice(1);
      } else if (next === '$' || next === '`') {
        const inner = this.expansion(false);
        text += inner.text;
        dynamic ||= inner.dynamic;
      } else {
        dynamic ||= /[*?[{]/.test(next) || (next === '~' && /(?:^|[:=])$/.test(text));
        text += this.take(1);
      }
    }
    if (this.documents.length > 0 && text.includes('\n')) this.stop('a here-document begins in the middle of a word');
    // Alone it is a command, and no pattern that would fit a file.
    return begun ? { text, dynamic: dynamic && text !== '[' } : undefined;
  }

  private singleQuoted(): string {
    const end = this.text.indexOf("'", this.position + 1);
    if (end < 0) {
      this.stop('a quote is not closed');
      return '';
    }
    const text = this.text.slice(this.position + 1, end);
    this.position = end + 1;
    return text;
  }

  private doubleQuoted(): LineWord {
    this.position += 1;
    let [text, dynamic] = ['', false];
    while (!this.isDone() && this.next() !== '"') {
      const next = this.next();
      if (next === '\\' && /[$`"\\]/.test(this.text[this.position + 1] ?? '')) text += this.take(2).slice(1);
      else if (next === '$' || next === '`') {
        const inner = this.expansion(true);
        text += inner.text;
        dynamic ||= inner.dynamic;
      } else text += this.take(1);
    }
    if (this.isDone()) this.stop('a quote is not closed');
    this.position += 1;
    return { text, dynamic };
  }

  /** What is run for it counts as a part of the line; what it gives is known to the shell alone. */
  private expansion(isQuoted: boolean): LineWord {
    const start = this.position;
    const rest = this.text.slice(start, start + 200);
    const simple = /^\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]|\{#?[A-Za-z_][A-Za-z0-9_]*\})/.exec(rest)?.[0];
    if (simple !== undefined) return { text: this.take(simple.length), dynamic: true };
    if (rest.startsWith('$((') || rest.startsWith('${') || rest.startsWith('$['))
      this.stop('it uses an expansion that is not gone into');
    else if (!isQuoted && /^\$["']/.test(rest)) this.stop('it uses a kind of quotes that is not understood');
    else if (rest.startsWith('$(')) {
      if (this.documents.length > 0) this.stop('a here-document stands before a substitution');
      this.position += 2;
      this.nested(() => this.list(')'));
      this.position += 1;
    } else if (rest.startsWith('`')) this.backquoted(isQuoted);
    else return { text: this.take(1), dynamic: false };
    return { text: this.text.slice(start, this.position), dynamic: true };
  }

  private backquoted(isQuoted: boolean): undefined {
    const found = /^`((?:[^`\\]|\\[\s\S])*)`/.exec(this.text.slice(this.position))?.[0];
    if (found === undefined) return this.stop('a backquote is not closed');
    this.position += found.length;
    const inner = found.slice(1, -1).replace(isQuoted ? /\\([$`\\"])/g : /\\([$`\\])/g, '$1');
    const reader = new LineReader(inner, this.depth + 1);
    this.nested(() => reader.list('end'));
    this.parts.push(...reader.parts);
    if (reader.problem !== undefined) this.stop(reader.problem);
  }

  private nested(read: () => void): void {
    this.depth += 1;
    if (this.depth > DEPTH_MAX) this.stop('its brackets are nested too deep');
    else read();
    this.depth -= 1;
  }

  /** Comments are passed over as well; a newline brings what it was promised: here-documents. */
  private blanks(newlines: boolean): undefined {
    for (;;) {
      if (this.at(' ') || this.at('\t')) this.position += 1;
      else if (this.at('#')) this.position = endOfLine(this.text, this.position);
      else if (newlines && this.at('\n')) {
        this.position += 1;
        for (const document of this.documents.splice(0)) this.skipDocument(document);
      } else return;
    }
  }

  private skipDocument({
    end,
    tabs,
    quoted,
  }: {
    readonly end: string;
    readonly tabs: boolean;
    readonly quoted: boolean;
  }): undefined {
    while (!this.isDone()) {
      const stop = endOfLine(this.text, this.position);
      const line = this.text.slice(this.position, stop);
      this.position = Math.min(this.text.length, stop + 1);
      if ((tabs ? line.replace(/^\t+/, '') : line) === end) return;
      if (!quoted && /[$`\\]/.test(line)) return this.stop('the shell would put something into a here-document');
    }
    this.stop('a here-document has no end');
  }

  /** The word that stands here, if nothing of it is quoted or put in by the shell. */
  private bareWord(): string | undefined {
    return /^[^\s;&|()<>'"\\$`]+(?=[\s;&|()<>]|$)/.exec(this.text.slice(this.position, this.position + 200))?.[0];
  }

  private stop(problem: string): undefined {
    this.problem ??= problem;
    this.position = this.text.length;
  }

  private isDone(): boolean {
    return this.position >= this.text.length;
  }

  private next(): string {
    return this.text[this.position] ?? '';
  }

  private at(piece: string): boolean {
    return this.text.startsWith(piece, this.position);
  }

  private take(count: number): string {
    const taken = this.text.slice(this.position, this.position + count);
    this.position += count;
    return taken;
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
