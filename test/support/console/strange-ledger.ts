/** A ledger as strangers would write it: runs, files, models and whatever else has a name are called by hostile texts. */
import { systemClock } from '../../../src/base/clock.ts';
import { createIds, eventId, type RunId, type SessionId } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { userText } from '../../../src/events/messages.ts';
import type { Append, Ledger } from '../../../src/ledger/port.ts';
import { payloads } from './payloads.ts';

const ids = createIds(systemClock, systemRandom);

export interface Writing {
  readonly session: SessionId;
  readonly run: RunId;
  append(events: readonly object[]): Promise<void>;
  release(): Promise<void>;
  /** With this answer. */
  end(body: string): Promise<void>;
}

/** A run of strangers in a session of theirs: whatever they are called and say. */
export async function begin(ledger: Ledger, text: string, session = ids.session()): Promise<Writing> {
  const run = ids.run();
  const lease = await ledger.acquire(session, run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  const first = (await ledger.read({ session, newest: true, limit: 1 }))[0];
  const append = async (events: readonly object[], cause = eventId(session, (first?.position ?? 0) + 1)): Promise<void> => {
    const common = { run, actor: 'system', at: systemClock.now() };
    const made = events.map((event, index) => ({
      ...common,
      cause: index === 0 && cause === undefined ? null : cause,
      ...event,
    }));
    const outcome = await ledger.append({ session, fence: lease.fence, events: made as unknown as Append['events'] });
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
  };
  const started = { agent: text, input: userText(text), origin: { kind: 'person' }, depth: 0 };
  await append([{ type: 'run.started', payload: started, cause: first === undefined ? null : first.event_id }]);
  const release = async (): Promise<void> => void (await ledger.release(lease.fence));
  const end = async (body: string): Promise<void> => {
    await append([ended(body)]);
    await release();
  };
  return { session, run, append, release, end };
}

const ended = (body: string) => ({
  type: 'run.ended',
  payload: {
    status: 'completed',
    report: { format: 'markdown', body },
    finalAgent: body,
    verification: { state: 'unverified', reasons: [body] },
  },
});

const failed = (text: string) => ({
  type: 'run.ended',
  payload: {
    ...{ status: 'failed', report: { format: 'text', body: '' }, finalAgent: text },
    verification: { state: 'unverified', reasons: [text] },
    error: { code: 'stranger', message: text, fix: text, last: text },
  },
});

/** What every text does besides: it is a file that was changed, an output, a call that waits for leave. */
const deeds = (text: string, index: number): readonly object[] => [
  {
    type: 'file.diff',
    payload: { path: text, before: null, after: null, addedLines: 1, removedLines: 0, diff: `+${text}` },
  },
  { type: 'cli.stdout', payload: { bytes: 1, head: text } },
  {
    type: 'approval.asked',
    payload: {
      ...{ wait: `w/${index}`, tool: text, input: { command: text }, why: text },
      ...{ preview: `@@ -0,0 +1 @@\n+${text}`, rule: text },
    },
  },
];

/** What was asked of a model, what it answered, and that it failed. */
const asked = (text: string, turn: number): readonly object[] => [
  { type: 'model.request', payload: { turn, model: text, added: [] } },
  {
    type: 'model.response',
    payload: {
      ...{ turn, finish: 'stop', requested: text, served: text, attempts: 1, durationMs: 1 },
      message: { role: 'assistant', content: [{ type: 'text', text }] },
      usage: { inputTokens: 1, outputTokens: 1 },
    },
  },
];

/** Both sides of what does not fit together, and claims that nothing backs. */
const reports: readonly object[] = [
  {
    type: 'evidence.checked',
    payload: {
      claims: payloads.map((text) => ({ claim: { kind: 'command', command: text }, backed: false, why: text })),
      verified: false,
      demanded: payloads.map((text) => ({ command: text, passed: false, why: text })),
    },
  },
  {
    type: 'task.merged',
    payload: {
      tasks: payloads.slice(0, 2),
      files: 0,
      conflicts: payloads.map((text) => ({
        ...{ path: text, tasks: [text, `${text} too`], why: text },
        hunks: [{ line: 1, base: text, ours: text, theirs: text }],
      })),
    },
  },
];

export interface StrangeLedger {
  /** A run for each text, called by it, that answered with it. */
  readonly answers: Writing;
  /** The same with runs that failed. */
  readonly failures: Writing;
  /** One run that did, asked and claimed all of them, and waits. */
  readonly asking: Writing;
}

export async function writeAsStrangers(ledger: Ledger): Promise<StrangeLedger> {
  const answers = await begin(ledger, 'begin');
  await answers.end('begun');
  for (const text of payloads) await (await begin(ledger, text, answers.session)).end(text);
  const failures = await begin(ledger, 'fail');
  await failures.end('begun');
  for (const text of payloads) {
    const one = await begin(ledger, text, failures.session);
    await one.append([...asked(text, 1), failed(text)]);
    await one.release();
  }
  const asking = await begin(ledger, payloads[0] ?? '');
  await asking.append(payloads.flatMap(deeds));
  await asking.append(reports);
  return { answers, failures, asking };
}
