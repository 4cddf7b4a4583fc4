/** What was said in a run that is to be kept: what it was asked, by whom it was helped, and how it ended. */
import { TroupeError } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { Answer } from '../events/catalogue.ts';
import type { EventOf } from '../events/envelope.ts';
import type { ImagePart } from '../events/messages.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import type { TestDefinition } from './test-file.ts';

export interface KeptRun {
  readonly started: EventOf<'run.started'>;
  readonly ended: EventOf<'run.ended'>;
  /** What people said to its questions, in the order in which these were asked. */
  readonly answers: readonly string[];
  readonly approve: TestDefinition['approve'];
  /** What of it a test cannot hold. */
  readonly notes: readonly string[];
}

export async function readKeptRun(ledger: Pick<Ledger, 'read'>, { session, run }: RunRow): Promise<KeptRun> {
  let started: EventOf<'run.started'> | undefined;
  let ended: EventOf<'run.ended'> | undefined;
  const asked: (EventOf<'approval.asked'> | EventOf<'task.clarify'>)[] = [];
  const answers = new Map<string, Answer>();
  for await (const event of readEvents(ledger, { session, root: run })) {
    const isOwn = event.run_id === run;
    if (isOwn && event.event_type === 'run.started') started = event;
    if (isOwn && event.event_type === 'run.ended') ended = event;
    if (isOwn && event.event_type === 'run.reopened') ended = undefined;
    if (event.event_type === 'approval.asked' || event.event_type === 'task.clarify') asked.push(event);
    if (event.event_type === 'approval.answered' && event.payload.answer.kind !== 'expired')
      answers.set(waitOf(event), event.payload.answer);
  }
  if (started === undefined) throw new TroupeError('usage', `The beginning of ${run} is not in the ledger any more`);
  if (ended === undefined)
    throw new TroupeError('usage', `${run} has not ended`, { fix: `Have it end first: troupe resume ${run}` });
  const said = asked.flatMap((event) => {
    const answer = answers.get(waitOf(event));
    return answer === undefined ? [] : [{ event, answer }];
  });
  const texts = said.flatMap(({ answer }) => (answer.kind === 'text' ? [answer.text] : []));
  return { started, ended, answers: texts, ...decisionsIn(said) };
}

const waitOf = ({ run_id, payload }: { readonly run_id: string; readonly payload: { readonly wait: string } }): string =>
  `${run_id} ${payload.wait}`;

interface Said {
  readonly event: EventOf<'approval.asked'> | EventOf<'task.clarify'>;
  readonly answer: Answer;
}

/** Where all of them were given there is nothing to tell apart. */
function decisionsIn(said: readonly Said[]): Pick<KeptRun, 'approve' | 'notes'> {
  const decided = new Map<string, boolean | string>();
  const notes = new Set<string>();
  for (const { event, answer } of said) {
    if (event.event_type !== 'approval.asked' || answer.kind === 'text') continue;
    const { tool } = event.payload;
    const decision = answer.kind === 'approved' || (answer.note ?? false);
    if (answer.kind === 'approved' && answer.input !== undefined)
      notes.add(`a call of ${tool} was approved with other arguments: a test gives it as it is`);
    const before = decided.get(tool) ?? decision;
    if ((before === true) !== (decision === true))
      notes.add(`${tool} was given and refused: the test says what came first (approve)`);
    decided.set(tool, before);
  }
  const isAllGiven = [...decided.values()].every((decision) => decision === true);
  return { approve: isAllGiven ? decided.size > 0 : Object.fromEntries(decided), notes: [...notes] };
}

/** Its prompt as words and pictures, and the terms that it was started with. */
export function requestKept({ started }: KeptRun): {
  readonly prompt: string;
  readonly images: readonly ImagePart[];
  readonly terms: Pick<TestDefinition, 'model' | 'vars'>;
} {
  const { payload, run_id: run } = started;
  if (payload.continues !== undefined || payload.retries !== undefined)
    throw new TroupeError('usage', `${run} goes on with what was said before in its session`, {
      fix: 'Keep the first run of its session, or this one with its answers: --frozen',
    });
  const parts = payload.input.content;
  const prompt = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  if (prompt === '')
    throw new TroupeError('usage', `${run} was asked without words`, { fix: 'Keep it with its answers: --frozen' });
  const images = parts.flatMap((part) => (part.type === 'image' ? [part] : []));
  const { model = payload.model, vars } = payload.tree ?? {};
  return { prompt, images, terms: present({ model, vars }) };
}
