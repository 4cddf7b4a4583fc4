/** Puts an open question to the person at the terminal and turns what they type into an answer. */
import type { OpenWait } from '../../engine/port.ts';
import type { Answer } from '../../events/catalogue.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

const ATTEMPTS_MAX = 5;
const BLIND_PROMPT = '  it is not all here, so it cannot be allowed here: no (or no and why), or Ctrl-D to leave it open: ';

/** `undefined` when they would rather not answer now. */
export async function askPerson(terminal: Terminal, wait: OpenWait): Promise<Answer | undefined> {
  const { progress } = terminal;
  progress.line();
  const mark = progress.paint.yellow('?');
  // A permission is asked for in a sentence of our own, which names the agent.
  if (wait.kind === 'permission') progress.line(`${mark} ${safeText(wait.question)}`);
  else progress.line(`${mark} ${progress.paint.bold(safeLine(wait.agent))}: ${safeText(wait.question)}`);
  const choices = wait.kind === 'question' ? (wait.choices ?? []) : [];
  for (const [index, choice] of choices.entries()) progress.line(`  ${index + 1}. ${safeLine(choice)}`);
  const blind = wait.kind === 'permission' && wait.missing > 0;
  const prompt =
    wait.kind === 'permission' ? (blind ? BLIND_PROMPT : '  allow? yes, always, no (or no and why): ') : '  answer: ';
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const typed = await terminal.ask(prompt);
    if (typed === undefined) return undefined;
    const answer = wait.kind === 'permission' ? parsePermission(typed) : parseText(typed, choices);
    if (answer !== undefined && !(blind && answer.kind === 'approved')) return answer;
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
