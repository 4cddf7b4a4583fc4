/**
 * What is recorded while an executor works. Its calls as it tells of them: its word, and no evidence. What came through our hands
 * and what changed in the folder: seen, and evidence. The folder is looked at before, whenever a call that may change
 * files has ended, and at the end; so a crash in the middle loses little of what was seen.
 */
import { relative, sep } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { ExecutorCall, ExecutorRan, ExecutorUpdate, ExecutorWrote } from '../../executors/port.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { changeEvidence } from '../../tools/files/file-change.ts';
import type { Evidence } from '../../tools/port.ts';
import { noticedChanges } from '../../tools/watch/noticed-changes.ts';
import { isTravelling, keptSince } from '../travel/travelling.ts';
import { boundedText, type ExecutorRecorder, recorded } from './recorder.ts';

export interface Witness {
  update(update: ExecutorUpdate): void;
  wrote(file: ExecutorWrote): void;
  ran(command: ExecutorRan): void;
  /** What was seen last, once everything has been looked at. */
  over(): Promise<readonly NewEvent[]>;
}

/** `by`: whose the changes are that the first look finds. */
export async function createWitness(
  recorder: ExecutorRecorder,
  step: string,
  turn: number,
  cwd: string,
  by: 'command' | 'outside',
): Promise<Witness> {
  const { tree, node } = recorder;
  const watch = tree.workspaces;
  const leave = watch?.enter(cwd);
  const seen = (evidence: readonly Evidence[]): NewEvent[] =>
    evidence.map((item) => recorded(recorder, item.type, item.payload, { step, ...present({ attachment: item.attachment }) }));
  /** Each event follows from the one that was built before it: they are built only when they are about to be written. */
  const looked = async (whose: 'command' | 'outside'): Promise<() => readonly NewEvent[]> => {
    const kept = await keptSince(tree, node);
    const changes = watch === undefined ? [] : (await watch.look(cwd)).changes;
    return () => [...kept, ...seen(noticedChanges(changes, whose, tree.redact))];
  };
  const before = await looked(by);
  tree.writer.enqueue(before());
  let looking: Promise<unknown> = Promise.resolve();
  let waiting = false;
  const calls = createReportedCalls(recorder, step, (result) => {
    // What it did is told to whoever goes on elsewhere only once the files are there, too.
    const withFiles = async (): Promise<void> => {
      const kept = await keptSince(tree, node);
      tree.writer.enqueue([...kept, result()]);
    };
    if (isTravelling(node)) looking = looking.then(withFiles);
    else tree.writer.enqueue([result()]);
    looking.catch(() => undefined);
  });
  /** One look at a time, and one for all that ended meanwhile. */
  const lookSoon = (): void => {
    if (waiting) return;
    waiting = true;
    looking = looking.then(async () => {
      waiting = false;
      const events = await looked('command');
      tree.writer.enqueue(events());
    });
    looking.catch(() => undefined);
  };
  const show = tree.live(node, turn);
  return {
    update(update) {
      if (update.kind === 'text') show?.({ type: 'text', text: tree.redact(update.text) });
      else if (update.kind === 'thought') show?.({ type: 'reasoning', text: tree.redact(update.text) });
      else if (update.kind === 'plan') tree.writer.enqueue([planned(recorder, step, update.entries)]);
      else if (update.kind === 'notice') noteOn(recorder, update.text);
      else if (update.kind === 'call') {
        const ended = calls.note(update.call);
        if (ended && !READING.has(update.call.kind)) lookSoon();
      }
    },
    wrote(file) {
      // It wrote the file before it told us to: that was its doing, and is seen when the folder is looked at.
      if (file.before === file.after) return lookSoon();
      const path = relative(cwd, file.path).split(sep).join('/');
      const before = file.before === undefined ? undefined : { bytes: Buffer.from(file.before), mode: undefined };
      tree.writer.enqueue(seen([changeEvidence(path, before as never, file.after, tree.redact)]));
      if (watch !== undefined) looking = looking.then(() => watch.noted(cwd, path));
    },
    ran: (command) => tree.writer.enqueue(seen(ranEvidence(command, tree.redact))),
    async over() {
      await looking;
      const last = await looked('command');
      leave?.();
      return last();
    },
  };
}

/** Each once: what it does wrong it does wrong often. */
function noteOn({ notices, tree }: ExecutorRecorder, text: string): void {
  const said = boundedText(tree.redact, text, limits.executorEventTitleCharacters);
  if (notices.length < limits.executorEventNotices && !notices.includes(said)) notices.push(said);
}

const READING: ReadonlySet<string> = new Set(['read', 'search', 'think', 'fetch']);

function planned(
  recorder: ExecutorRecorder,
  step: string,
  entries: readonly { text: string; priority: string; status: string }[],
) {
  const { redact } = recorder.tree;
  const kept = entries.slice(0, limits.executorEventPlanEntries).map(({ text, priority, status }) => ({
    ...{ text: boundedText(redact, text, limits.executorEventTitleCharacters), priority, status },
  }));
  return recorded(recorder, 'executor.planned', { entries: kept }, { step, actor: 'executor' });
}

/** Calls come as upserts: what is known of one is written when it begins to be done, or has something to say for itself. */
function createReportedCalls(recorder: ExecutorRecorder, step: string, ended: (result: () => NewEvent) => void) {
  const { tree, standing } = recorder;
  const shown = new Map<string, string>();
  /** Those whose result is still to be recorded among them. */
  const over = new Set<string>();
  let kept = standing.done().length + standing.begun().length;
  return {
    /** Whether it has ended with this. */
    note(call: ExecutorCall): boolean {
      if (over.has(call.id) || standing.isOver(call.id)) return false;
      const payload = reported(call, tree.redact);
      const text = JSON.stringify(payload);
      const isNew = !standing.isKnown(call.id);
      if (isNew && kept >= limits.executorCallsKept) return call.status === 'completed' || call.status === 'failed';
      const isOver = call.status === 'completed' || call.status === 'failed';
      const events: NewEvent[] = [];
      // Titles and arguments come bit by bit: what has begun is worth a line, and what it was in the end.
      if (isNew ? call.status !== 'pending' || payload.input !== undefined : isOver && shown.get(call.id) !== text) {
        events.push(recorded(recorder, 'executor.call', payload, { step, actor: 'executor' }));
        shown.set(call.id, text);
        if (isNew) kept += 1;
      }
      if (events.length > 0) tree.writer.enqueue(events);
      if (isOver) {
        over.add(call.id);
        ended(() => resultOf(recorder, step, call, call.status as 'completed' | 'failed'));
      }
      return isOver;
    },
  };
}

function reported({ id, title, kind, locations, input }: ExecutorCall, redact: (text: string) => string) {
  const places = locations.slice(0, limits.executorEventLocations);
  const isShort = input === undefined || JSON.stringify(input).length <= limits.executorEventInputBytes;
  return {
    id,
    title: boundedText(redact, title, limits.executorEventTitleCharacters),
    kind,
    ...(places.length === 0 ? {} : { locations: places }),
    ...present({ input: isShort ? input : { cut: boundedText(redact, JSON.stringify(input), limits.executorEventInputBytes) } }),
  };
}

function resultOf(recorder: ExecutorRecorder, step: string, call: ExecutorCall, status: 'completed' | 'failed') {
  const { id, output, outputBytes } = call;
  const text = boundedText(recorder.tree.redact, output, limits.executorEventOutputBytes);
  const isCut = text.length < output.length || Buffer.byteLength(output) < outputBytes;
  const payload = { id, status, output: text, ...(isCut ? { wholeBytes: outputBytes } : {}) };
  return recorded(recorder, 'executor.result', payload, { step, actor: 'executor' });
}

const HEAD_CHARACTERS = 400;

/** Run by us, so it is seen; what its exit code proves is not judged: `verify` is there for that. */
function ranEvidence(ran: ExecutorRan, redact: (text: string) => string): Evidence[] {
  const { line, cwd, exitCode, signal, durationMs, stopped, sandbox } = ran;
  const payload = { command: redact(line), cwd, exitCode, signal, durationMs: Math.round(durationMs), ...present({ sandbox }) };
  const output = (type: 'cli.stdout' | 'cli.stderr', text: string, bytes: number): Evidence[] => {
    if (bytes === 0) return [];
    const head = text.slice(0, HEAD_CHARACTERS).toWellFormed();
    return [{ type, payload: { bytes, head }, ...(head.length < text.length ? { attachment: text } : {}) }];
  };
  return [
    { type: 'cli.run', payload: { ...payload, ...(stopped ? { stopped: 'cancelled' as const } : {}) } },
    ...output('cli.stdout', redact(ran.stdout), ran.stdoutBytes),
    ...output('cli.stderr', redact(ran.stderr), ran.stderrBytes),
  ];
}
