/** What an executor is told: what the turn has to say, and where it takes something up, what is known to be done. */
import { limits } from '../../base/limits.ts';
import { type ImagePart, type Message, type TextPart, textOf } from '../../events/messages.ts';
import type { TurnRequest } from '../../loop/port.ts';
import { commandsIn } from './carried-commands.ts';
import type { Denial } from './permits.ts';
import { boundedText, type ExecutorRecorder } from './recorder.ts';
import type { ExecutorStanding } from './standing.ts';

type Parts = readonly (TextPart | ImagePart)[];

const text = (words: string): TextPart => ({ type: 'text', text: words });

const partsOf = (message: Message): Parts => (message.role === 'user' ? message.content : []);

/** What is new, with its instructions in front where it has heard nothing yet. */
export function requestParts({ setup }: ExecutorRecorder, { messages, newFrom }: TurnRequest, isFirst: boolean): Parts {
  const instructions = isFirst && setup.system.trim() !== '' ? [text(`${setup.system.trim()}\n\n---\n\n`)] : [];
  return [...instructions, ...messages.slice(newFrom).flatMap(partsOf)];
}

/** For a session that has lost what was said before: all of it, as far as there is room. */
export async function toldBefore({ tree, node }: ExecutorRecorder, { messages, newFrom }: TurnRequest): Promise<string> {
  const history = [...(await tree.history(node)), ...messages.slice(0, newFrom)];
  const lines = history.map((message) => `${message.role === 'user' ? 'User' : 'You'}: ${textOf(message.content as TextPart[])}`);
  if (lines.length === 0) return '';
  const all = lines.join('\n\n');
  return `What was said before:\n\n${all.slice(-limits.executorHistoryCharacters).toWellFormed()}\n\n---\n\n`;
}

export const GO_ON =
  'You were cut off while you worked on the request below: the program that talks to you stopped. Go on where you were. ' +
  'Look at how things are before you do something again: what is done must not be done twice.';

const ANEW =
  'This request was worked on before, by a session that is lost. Go on with it. Look at how things are before you do something: ' +
  'what is done must not be done twice.';

/** In our own words, in front of the request. */
export function takenUp(recorder: ExecutorRecorder, isAnew: boolean): string {
  const known = knownToBeDone(recorder.standing, recorder.tree.redact);
  return `${isAnew ? ANEW : GO_ON}${known === '' ? '' : `\n\n${known}`}\n\nThe request:\n\n`;
}

/** Its own calls, and what was seen to change. */
function knownToBeDone(standing: ExecutorStanding, redact: (text: string) => string): string {
  const line = ({ title, input }: { readonly title: string; readonly input?: never | undefined | unknown }): string => {
    const { lines: commands } = commandsIn(input as never);
    return boundedText(
      redact,
      (commands.length === 0 ? title : commands.join('; ')).replaceAll(/\s+/g, ' '),
      limits.executorEventTitleCharacters,
    );
  };
  const done = standing.done().filter(({ kind }) => kind === undefined || !READING.has(kind));
  const parts = [
    list(
      'Known to be done',
      done.map((call) => `${line(call)}${call.status === 'failed' ? ' (it failed)' : ''}`),
    ),
    list('Begun, and nobody knows whether it was done', standing.begun().map(line)),
    list('Files that were changed', standing.changed()),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

const READING: ReadonlySet<string> = new Set(['read', 'search', 'think']);

function list(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const shown = lines.slice(-limits.executorDoneLines);
  const more = lines.length - shown.length;
  return [`${title}:`, ...(more > 0 ? [`- (${more} before these)`] : []), ...shown.map((one) => `- ${one}`)].join('\n');
}

/** What it cannot be told when it asks. */
export function wordsAbout(denials: readonly Denial[]): string {
  const lines = denials.map(({ title, note }) => `- ${title}${note === undefined ? '' : `\n  They wrote: ${note}`}`);
  return [
    'Not allowed:',
    ...lines,
    '',
    'Go on without it, in the way that was said where something was said; or report what is missing.',
  ].join('\n');
}
