/** Permissions that were asked for and answered: afterwards, too, all of what was approved can be looked at. */
import type { RunId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { present } from '../base/present.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { wholeQuestion, wholeRequest } from '../projections/request-text.ts';
import { answerLine } from '../projections/timeline.ts';
import { waitKey } from '../projections/waits.ts';

interface AnsweredRequest {
  readonly run: RunId;
  readonly asked: Payloads['approval.asked'];
  readonly answered?: { readonly at: string; readonly payload: Payloads['approval.answered'] };
}

/** In the order in which they were asked. */
export type AnsweredRequests = Map<string, AnsweredRequest>;

/** Updates and returns the accumulator it was given. */
export function foldAnsweredRequests(all: AnsweredRequests, event: LedgerEvent): AnsweredRequests {
  if (event.event_type === 'approval.asked')
    all.set(waitKey(event.run_id, event.payload.wait), { run: event.run_id, asked: event.payload });
  if (event.event_type !== 'approval.answered') return all;
  const key = waitKey(event.run_id, event.payload.wait);
  const one = all.get(key);
  if (one !== undefined) all.set(key, { ...one, answered: { at: event.timestamp, payload: event.payload } });
  return all;
}

export interface ShownAnswer {
  readonly run: RunId;
  readonly wait: string;
  readonly input: Json;
  readonly request: string;
  readonly shown?: string | undefined;
  /** Whoever answered said that they saw it. */
  readonly seen: boolean;
  readonly answer: Payloads['approval.answered']['answer']['kind'];
  readonly by?: string | undefined;
  readonly where?: string | undefined;
  readonly at: string;
  /** How, by whom and where, in words. */
  readonly text: string;
  /** What it was approved as instead. */
  readonly changed?: string | undefined;
}

/** Those of these runs that have an answer, with nothing left out. */
export function answeredRequests(all: AnsweredRequests, runs: ReadonlySet<RunId>): readonly ShownAnswer[] {
  return [...all.values()].flatMap(({ run, asked, answered }) => {
    if (answered === undefined || !runs.has(run)) return [];
    const { wait, input, why, shown } = asked;
    const { answer, by, where } = answered.payload;
    const changed = answer.kind === 'approved' && answer.input !== undefined ? wholeRequest({ input: answer.input }) : undefined;
    const said = { answer: answer.kind, at: answered.at, text: answerLine(answered.payload) };
    const seen = answered.payload.shown !== undefined;
    return [{ run, wait, input, request: wholeQuestion(why, asked), ...said, seen, ...present({ shown, by, where, changed }) }];
  });
}
