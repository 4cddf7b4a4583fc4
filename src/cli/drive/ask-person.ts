/** Puts an open question to the person at the terminal and turns what they type into an answer. */
import type { OpenWait, PermissionWait } from '../../engine/port.ts';
import type { Answer } from '../../events/catalogue.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { requestPages } from './request-pages.ts';

const ATTEMPTS_MAX = 5;

/** `undefined` when they would rather not answer now. */
export async function askPerson(terminal: Terminal, wait: OpenWait): Promise<Answer | undefined> {
  const { progress } = terminal;
  progress.line();
  const mark = progress.paint.yellow('?');
  if (wait.kind === 'permission') return await askPermission(terminal, wait, mark);
  progress.line(`${mark} ${progress.paint.bold(safeLine(wait.agent))}: ${safeText(wait.question)}`);
  const choices = wait.choices ?? [];
  for (const [index, choice] of choices.entries()) progress.line(`  ${index + 1}. ${safeLine(choice)}`);
  return await asked(terminal, '  answer: ', (typed) => parseText(typed, choices));
}

/** Nothing is allowed before its last page was shown; it can be refused at any time. */
async function askPermission(terminal: Terminal, wait: PermissionWait, mark: string): Promise<Answer | undefined> {
  const { progress } = terminal;
  // A permission is asked for in a sentence of our own, which names the agent.
  const pages = requestPages(wait.request, progress.width(), progress.height());
  for (const [index, page] of pages.entries()) {
    for (const [line, text] of page.entries()) progress.line(index === 0 && line === 0 ? `${mark} ${text}` : text);
    if (index === pages.length - 1) break;
    const typed = await terminal.ask(`  page ${index + 1} of ${pages.length}: Enter for the next, or no (and why): `);
    if (typed === undefined) return undefined;
    const answer = parsePermission(typed);
    if (answer?.kind === 'denied') return answer;
  }
  const answer = await asked(terminal, '  allow? yes, always, no (or no and why): ', parsePermission);
  return answer?.kind === 'approved' ? { ...answer, whole: true } : answer;
}

async function asked(
  terminal: Terminal,
  prompt: string,
  parse: (typed: string) => Answer | undefined,
): Promise<Answer | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const typed = await terminal.ask(prompt);
    if (typed === undefined) return undefined;
    const answer = parse(typed);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Only a clear yes is a yes. */
export function parsePermission(typed: string): Answer | undefined {
  const [word = '', ...rest] = typed.trim().split(/\s+/);
  switch (word.toLowerCase()) {
    case 'y':
    case 'yes':
      return { kind: 'approved' };
    case 'a':
    case 'always':
      return { kind: 'approved', remember: true };
    case 'n':
    case 'no': {
      const note = rest.join(' ');
      return note === '' ? { kind: 'denied' } : { kind: 'denied', note };
    }
    default:
      return undefined;
  }
}

export function parseText(typed: string, choices: readonly string[]): Answer | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const chosen = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
  return { kind: 'text', text: chosen ?? text };
}
