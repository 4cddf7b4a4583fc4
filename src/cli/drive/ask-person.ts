/** Puts an open question to the person at the terminal and turns what they type into an answer. */
import { createHash } from 'node:crypto';
import { isJsonObject, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { judgedLine } from '../../base/visible-text.ts';
import type { Engine, OpenWait, PermissionWait } from '../../engine/port.ts';
import type { Answer } from '../../events/catalogue.ts';
import { wholeQuestion, wholeRequest } from '../../projections/request-text.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, hardWrap, proseLines, textWidth } from '../terminal/text-width.ts';
import { askerOf } from '../view/run-summary.ts';
import type { LinePrompt } from '../view/run-view.ts';
import type { Desk } from './desk.ts';
import { editInput } from './edit-input.ts';
import { createShown, NOTHING, parsePermission, type ShownRequest, showWhole, untilAnswered } from './whole-request.ts';

/** Every choice is seen, however narrow the screen is; one letter is enough for each. */
const ALLOW: LinePrompt = [
  '  allow? yes, always, edit, no (or no and why): ',
  '  allow? yes, always, edit, no: ',
  '  yes, always, edit, no: ',
  '  y,a,e,n: ',
];
const CHANGED: LinePrompt = [
  '  allow this? yes, edit, no (or no and why): ',
  '  allow this? yes, edit, no: ',
  '  yes, edit, no: ',
  '  y,e,n: ',
];
const AGAIN: LinePrompt = ['  edit it again? edit, no (or no and why): ', '  again? edit, no: ', '  e, n: '];

/** Why what they made of a call cannot be what it is made with; `undefined` when it can. */
type Refused = Engine['refusedChange'];

/** `undefined` when they would rather not answer now. `which`: who asks, where the name alone does not say it. */
export async function askPerson(
  desk: Desk,
  screen: Screen,
  wait: OpenWait,
  refused: Refused,
  which?: string,
): Promise<Answer | undefined> {
  const mark = screen.paint.yellow('?');
  const above = (width: number): readonly string[] =>
    which === undefined ? [] : [screen.paint.dim(cutToWidth(`  ${which}`, width))];
  if (wait.kind === 'permission') return await askPermission(desk, screen, wait, { mark, above }, refused);
  const choices = wait.choices ?? [];
  const about = (): readonly string[] => [
    ...above(screen.width()),
    ...proseLines(safeText(wait.question), widthOf(screen), { head: `${mark} ${screen.paint.bold(askerOf(wait))}: ` }),
    ...choices.flatMap((choice, index) => proseLines(safeLine(choice), widthOf(screen), { head: `  ${index + 1}. `, indent: 5 })),
  ];
  desk.put('', ...about());
  return await untilAnswered(desk, '  answer: ', about, (typed) => parseText(typed, choices));
}

/** A file that gets the question has it as it is. */
const widthOf = (screen: Screen): number | undefined => (screen.isTty ? screen.width() : undefined);

/** Whether it is meant, of somebody who has said that they approve it before they had all of it before their eyes. */
export async function confirmApproval(
  desk: Desk,
  screen: Screen,
  { request, tool, rule }: PermissionWait,
  { input, remember }: Extract<Answer, { kind: 'approved' }>,
): Promise<boolean> {
  const later = remember === true && rule !== undefined ? `and later: ${safeText(judgedLine(rule))}` : undefined;
  const shown = createShown(screen, {
    request: input === undefined ? request : changedQuestion(tool, input),
    mark: screen.paint.yellow('?'),
    above: NOTHING,
    below: (width) => (later === undefined ? [] : hardWrap(later, width - 2).map((part) => `  ${part}`)),
  });
  if ((await showWhole(desk, screen, shown)) !== 'seen') return false;
  const said = await untilAnswered(desk, ['  approve this? yes or no: ', '  yes or no: '], shown, parsePermission);
  return said?.kind === 'approved' && said.remember !== true;
}

/** What is approved, as it is shown: what was asked for, or what was made of it. */
export const approvedText = ({ request, tool }: PermissionWait, input: Json | undefined): string =>
  safeText(input === undefined ? request : changedQuestion(tool, input));

/** Nothing is allowed before its last page was shown; it can be refused at any time. */
async function askPermission(
  desk: Desk,
  screen: Screen,
  wait: PermissionWait,
  first: Pick<ShownRequest, 'mark' | 'above'>,
  refused: Refused,
): Promise<Answer | undefined> {
  // A permission is asked for in a sentence of our own, which names the agent. What "always" would mean is said before anybody
  // chooses it.
  const below = (width: number): readonly string[] => (wait.rule === undefined ? [] : alwaysLines(wait, width));
  const shown = createShown(screen, { request: wait.request, ...first, below });
  for (;;) {
    const seen = await showWhole(desk, screen, shown);
    if (seen !== 'seen') return seen;
    const answer = await untilAnswered(desk, ALLOW, shown, (typed) => (isEdit(typed) ? 'edit' : parsePermission(typed)));
    if (answer !== 'edit') return answer?.kind === 'approved' ? { ...answer, whole: true } : answer;
    const edited = await editAndAsk(desk, screen, wait, refused);
    if (edited !== 'nothing') return edited;
  }
}

/** Longer than so many rows, what stands above already is not shown a second time. */
const RULE_ROWS = 2;

/** The rule that would be written, below the words where it does not fit beside them; nothing of it is left out. */
function alwaysLines({ tool, rule = '', input }: PermissionWait, width: number): readonly string[] {
  const shown = safeText(judgedLine(rule));
  const words = 'always (this session) or always project:';
  const { command } = isJsonObject(input) ? input : {};
  const isCommand = rule === `${tool} ${command}` || rule === `${tool} = ${command}`;
  const rows = hardWrap(shown, width - 4);
  // Of several lines, too, it stands above as it is.
  const isAbove = isCommand && (rows.length > RULE_ROWS || rule.includes('\n'));
  const line = `  ${words} ${isAbove ? veryCommand(tool) : shown}`;
  if (textWidth(line) <= width) return [line];
  const below = isAbove ? [veryCommand(tool)] : rows;
  return [...proseLines(words, width, { head: '  ', indent: 2 }), ...below.map((part) => `    ${part}`)];
}

const veryCommand = (tool: string): string => `${safeLine(tool)}, this very command`;

const isEdit = (typed: string): boolean => /^\s*e(dit)?\s*$/i.test(typed);

/** What they make of it is shown like anything else before it is allowed, and is theirs. */
async function editAndAsk(
  desk: Desk,
  screen: Screen,
  wait: PermissionWait,
  refused: Refused,
): Promise<Answer | 'nothing' | undefined> {
  const { input, tool } = wait;
  for (let current = input, draft = input; ; ) {
    const changed = await editInput(desk, draft);
    if (changed === undefined) return undefined;
    const refusal = changed.ok ? await refused(wait, changed.value) : undefined;
    if (changed.ok && refusal !== undefined) {
      // Said before an editor takes the screen again; what they wrote is not lost.
      const about = (): readonly string[] =>
        proseLines(`${safeLine(refusal.why)} Nothing is approved.`, screen.width(), { head: '  ', indent: 2 });
      desk.say(...about());
      const again = await untilAnswered(desk, AGAIN, about, parseAgain);
      if (again !== 'edit') return again;
      draft = changed.value;
      continue;
    }
    if (!changed.ok) desk.say(`  ${safeLine(changed.error)}: nothing is approved`);
    if (changed.ok) current = changed.value;
    else if (current === input) return 'nothing';
    draft = current;
    const request = changedQuestion(tool, current);
    const shown = createShown(screen, { request, mark: screen.paint.yellow('!'), above: NOTHING, below: NOTHING });
    const seen = await showWhole(desk, screen, shown);
    if (seen !== 'seen') return seen;
    const answer = await untilAnswered(desk, CHANGED, shown, parseChanged);
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

/** What does not fit cannot be allowed. */
function parseAgain(typed: string): Answer | 'edit' | undefined {
  const answer = parseChanged(typed);
  return answer === 'edit' || answer?.kind === 'denied' ? answer : undefined;
}

export function parseText(typed: string, choices: readonly string[]): Answer | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const chosen = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
  return { kind: 'text', text: chosen ?? text };
}
