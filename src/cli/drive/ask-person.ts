/** Puts an open question to the person at the terminal and turns what they type into an answer. */
import { createHash } from 'node:crypto';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { visibleText } from '../../base/visible-text.ts';
import type { OpenWait, PermissionWait } from '../../engine/port.ts';
import type { Answer } from '../../events/catalogue.ts';
import { wholeQuestion, wholeRequest } from '../../projections/request-text.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { hardWrap, textWidth } from '../terminal/text-width.ts';
import type { Desk } from './desk.ts';
import { editInput } from './edit-input.ts';
import { requestPages } from './request-pages.ts';

const ATTEMPTS_MAX = 5;

/** `undefined` when they would rather not answer now. */
export async function askPerson(desk: Desk, screen: Screen, wait: OpenWait): Promise<Answer | undefined> {
  const mark = screen.paint.yellow('?');
  if (wait.kind === 'permission') return await askPermission(desk, screen, wait, mark);
  const choices = wait.choices ?? [];
  desk.say(
    '',
    `${mark} ${screen.paint.bold(safeLine(wait.agent))}: ${safeText(wait.question)}`,
    ...choices.map((choice, index) => `  ${index + 1}. ${safeLine(choice)}`),
  );
  return await asked(desk, '  answer: ', (typed) => parseText(typed, choices));
}

/** Whether it is meant, of somebody who has said that they approve it before they had all of it before their eyes. */
export async function confirmApproval(
  desk: Desk,
  screen: Screen,
  { request, tool, rule }: PermissionWait,
  { input, remember }: Extract<Answer, { kind: 'approved' }>,
): Promise<boolean> {
  const asks = input === undefined ? request : changedQuestion(tool, input);
  const shown = await showWhole(desk, screen, asks, screen.paint.yellow('?'));
  if (shown !== 'seen') return false;
  if (remember === true && rule !== undefined) desk.say(`  and later: ${safeLine(visibleText(rule))}`);
  const said = await asked(desk, '  approve this? yes or no: ', parsePermission);
  return said?.kind === 'approved' && said.remember !== true;
}

/** What is approved, as it is shown: what was asked for, or what was made of it. */
export const approvedText = ({ request, tool }: PermissionWait, input: Json | undefined): string =>
  safeText(input === undefined ? request : changedQuestion(tool, input));

/** Nothing is allowed before its last page was shown; it can be refused at any time. */
async function askPermission(desk: Desk, screen: Screen, wait: PermissionWait, mark: string): Promise<Answer | undefined> {
  for (;;) {
    // A permission is asked for in a sentence of our own, which names the agent.
    const shown = await showWhole(desk, screen, wait.request, mark);
    if (shown !== 'seen') return shown;
    // What "always" would mean is said before anybody chooses it.
    if (wait.rule !== undefined) desk.say(...alwaysLines(safeLine(visibleText(wait.rule)), screen.width()));
    const answer = await asked(desk, '  allow? yes, always, edit, no (or no and why): ', (typed) =>
      isEdit(typed) ? 'edit' : parsePermission(typed),
    );
    if (answer !== 'edit') return answer?.kind === 'approved' ? { ...answer, whole: true } : answer;
    const edited = await editAndAsk(desk, screen, wait.input, wait.tool);
    if (edited !== 'nothing') return edited;
  }
}

/** Page by page: whether they have seen it to its end, or what they said before that. */
async function showWhole(desk: Desk, screen: Screen, request: string, mark: string): Promise<'seen' | Answer | undefined> {
  const pages = requestPages(request, screen.width(), screen.height());
  for (const [index, page] of pages.entries()) {
    const [first = '', ...rest] = page;
    desk.say(...(index === 0 ? ['', `${mark} ${first}`, ...rest] : page));
    if (index === pages.length - 1) break;
    const typed = await desk.ask(`  page ${index + 1} of ${pages.length}: Enter for the next, or no (and why): `);
    if (typed === undefined) return undefined;
    const answer = parsePermission(typed);
    if (answer?.kind === 'denied') return answer;
  }
  return 'seen';
}

/** The rule that would be written, below the words where it does not fit beside them; nothing of it is left out. */
function alwaysLines(rule: string, width: number): readonly string[] {
  const line = `  always (this session) or always project: ${rule}`;
  if (textWidth(line) <= width) return [line];
  return ['  always (this session) or always project:', ...hardWrap(rule, width - 4).map((part) => `    ${part}`)];
}

const isEdit = (typed: string): boolean => /^\s*e(dit)?\s*$/i.test(typed);

/** What they make of it is shown like anything else before it is allowed, and is theirs. */
async function editAndAsk(desk: Desk, screen: Screen, input: Json, tool: string): Promise<Answer | 'nothing' | undefined> {
  for (let current = input; ; ) {
    const changed = await editInput(desk, current);
    if (changed === undefined) return undefined;
    if (!changed.ok) desk.say(`  ${safeLine(changed.error)}: nothing is approved`);
    if (changed.ok) current = changed.value;
    else if (current === input) return 'nothing';
    const shown = await showWhole(desk, screen, changedQuestion(tool, current), screen.paint.yellow('!'));
    if (shown !== 'seen') return shown;
    const answer = await asked(desk, '  allow this? yes, edit, no (or no and why): ', parseChanged);
    if (answer !== 'edit') return answer?.kind === 'approved' ? { kind: 'approved', whole: true, input: current } : answer;
  }
}

function changedQuestion(tool: string, input: Json): string {
  const hash = createHash('sha256').update(wholeRequest({ input })).digest('hex').slice(0, limits.shownCharacters);
  return wholeQuestion(`${safeLine(tool)} as you have changed it (${hash})`, { input });
}

/** What was changed is allowed once: a rule would be about the call that was asked for. */
function parseChanged(typed: string): Answer | 'edit' | undefined {
  if (isEdit(typed)) return 'edit';
  const answer = parsePermission(typed);
  return answer?.kind === 'approved' && answer.remember === true ? undefined : answer;
}

async function asked<Said>(desk: Desk, prompt: string, parse: (typed: string) => Said | undefined): Promise<Said | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const typed = await desk.ask(prompt);
    if (typed === undefined) return undefined;
    const answer = parse(typed);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Only a clear yes is a yes: "yes, but ask Bob first" is none, and "a lot of files" is not "always". */
export function parsePermission(typed: string): Answer | undefined {
  const [word = '', ...rest] = typed.trim().split(/\s+/);
  const behind = rest.join(' ').toLowerCase();
  switch (word.toLowerCase()) {
    case 'y':
    case 'yes':
      return behind === '' ? { kind: 'approved' } : undefined;
    case 'a':
    case 'always':
      if (behind === 'project') return { kind: 'approved', remember: true, scope: 'project' };
      return behind === '' ? { kind: 'approved', remember: true } : undefined;
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
