/**
 * A command line as the shell takes it apart: lists, pipelines, groups and simple commands. Loops, conditions and functions
 * are not gone into: what they do with an exit code cannot be told from their text, and that is what this is for.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { shellTokens, type Token, type Word } from './shell-words.ts';

export interface SimpleCommand {
  readonly kind: 'simple';
  readonly assignments: readonly { readonly name: string; readonly value: string; readonly dynamic: boolean }[];
  readonly words: readonly Word[];
  /** It writes what it prints into a file. */
  readonly writes: boolean;
  /** Its input is text that stands in the line itself. */
  readonly fed: boolean;
}

export type Command =
  | SimpleCommand
  | { readonly kind: 'subshell'; readonly body: CommandList }
  | { readonly kind: 'group'; readonly body: CommandList };

export interface Pipeline {
  readonly negated: boolean;
  /** At least one. */
  readonly commands: readonly Command[];
}

export interface ListItem {
  readonly first: Pipeline;
  readonly rest: readonly { readonly operator: '&&' | '||'; readonly pipeline: Pipeline }[];
  readonly background: boolean;
}

export type CommandList = readonly ListItem[];

const KEYWORDS = new Set(['if', 'while', 'until', 'for', 'case', 'select', 'function', '[[', 'coproc']);
const DEPTH_MAX = 20;

export function parseCommandLine(line: string): Result<CommandList, string> {
  const tokens = shellTokens(line);
  if (!tokens.ok) return tokens;
  const parser = new Parser(tokens.value);
  const list = parser.list(undefined, 0);
  if (!list.ok) return list;
  if (!parser.done()) return fail('its brackets do not fit');
  return list.value.length === 0 ? fail('it is empty') : list;
}

class Parser {
  private position = 0;
  private readonly tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  done(): boolean {
    return this.position >= this.tokens.length;
  }

  /** Up to the closing bracket, which is not taken. */
  list(end: ')' | '}' | undefined, depth: number): Result<CommandList, string> {
    if (depth > DEPTH_MAX) return fail('its brackets are nested too deep');
    const items: ListItem[] = [];
    for (;;) {
      while (this.operator(';')) this.position += 1;
      if (this.done() || (end !== undefined && this.closes(end))) return ok(items);
      const item = this.item(depth);
      if (!item.ok) return item;
      items.push(item.value);
      const next = this.peek();
      if (next === undefined || (end !== undefined && this.closes(end))) return ok(items);
      if (!this.operator(';') && !item.value.background) return fail('it is not understood');
    }
  }

  private item(depth: number): Result<ListItem, string> {
    const first = this.pipeline(depth);
    if (!first.ok) return first;
    const rest: { operator: '&&' | '||'; pipeline: Pipeline }[] = [];
    while (this.operator('&&') || this.operator('||')) {
      const operator = this.operator('&&') ? '&&' : '||';
      this.position += 1;
      while (this.operator(';')) this.position += 1;
      const pipeline = this.pipeline(depth);
      if (!pipeline.ok) return pipeline;
      rest.push({ operator, pipeline: pipeline.value });
    }
    const background = this.operator('&');
    if (background) this.position += 1;
    return ok({ first: first.value, rest, background });
  }

  private pipeline(depth: number): Result<Pipeline, string> {
    let negated = false;
    while (this.plainWord() === '!') {
      negated = !negated;
      this.position += 1;
    }
    const commands: Command[] = [];
    for (;;) {
      const command = this.command(depth);
      if (!command.ok) return command;
      commands.push(command.value);
      if (!this.operator('|') && !this.operator('|&')) return ok({ negated, commands });
      this.position += 1;
      while (this.operator(';')) this.position += 1;
    }
  }

  private command(depth: number): Result<Command, string> {
    if (this.operator('(')) return this.bracketed('subshell', ')', depth);
    const word = this.plainWord();
    if (word === '{') return this.bracketed('group', '}', depth);
    if (word !== undefined && KEYWORDS.has(word)) return fail(`it uses \`${word}\``);
    return this.simple();
  }

  private bracketed(kind: 'subshell' | 'group', end: ')' | '}', depth: number): Result<Command, string> {
    this.position += 1;
    const body = this.list(end, depth + 1);
    if (!body.ok) return body;
    if (!this.closes(end) || body.value.length === 0) return fail('its brackets do not fit');
    this.position += 1;
    while (this.peek()?.kind === 'redirect') this.position += 1;
    return ok({ kind, body: body.value });
  }

  private simple(): Result<Command, string> {
    const assignments: SimpleCommand['assignments'][number][] = [];
    const words: Word[] = [];
    let [writes, fed] = [false, false];
    for (let next = this.peek(); next !== undefined && next.kind !== 'operator'; next = this.peek()) {
      this.position += 1;
      if (next.kind === 'redirect') {
        fed ||= next.text.startsWith('<<');
        writes ||= next.text.includes('>') && !isNowhere(next.text, next.target);
        continue;
      }
      const assigned = words.length === 0 ? assignment(next.word) : undefined;
      if (assigned === undefined) words.push(next.word);
      else assignments.push(assigned);
    }
    if (this.operator('(')) return fail('it defines a function');
    if (words.length === 0 && assignments.length === 0 && !writes && !fed) return fail('it is not understood');
    return ok({ kind: 'simple', assignments, words, writes, fed });
  }

  private peek(): Token | undefined {
    return this.tokens[this.position];
  }

  private operator(text: string): boolean {
    const next = this.peek();
    return next?.kind === 'operator' && next.text === text;
  }

  private closes(end: ')' | '}'): boolean {
    return end === ')' ? this.operator(')') : this.plainWord() === '}';
  }

  private plainWord(): string | undefined {
    const next = this.peek();
    return next?.kind === 'word' && !next.word.quoted ? next.word.text : undefined;
  }
}

/** `2>&1` and `> /dev/null` change no file. */
function isNowhere(operator: string, target: Word): boolean {
  return (
    /^\/dev\/(?:null|zero|tty|stdout|stderr|fd\/\d+)$/.test(target.text) ||
    (operator.endsWith('>&') && /^(?:\d+|-)$/.test(target.text))
  );
}

function assignment(word: Word): { readonly name: string; readonly value: string; readonly dynamic: boolean } | undefined {
  const found = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/.exec(word.text);
  return found === null ? undefined : { name: found[1] ?? '', value: found[2] ?? '', dynamic: word.dynamic };
}
