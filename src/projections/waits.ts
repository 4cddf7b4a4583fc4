/** Open questions: what was asked and not answered yet. Folded from the ledger, so every process sees the same ones. */
import type { RunId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { permissionQuestion, requestText, wholeQuestion } from './request-text.ts';

export interface Wait {
  readonly run: RunId;
  /** What an answer names. Unique within its run. */
  readonly wait: string;
  readonly kind: 'permission' | 'question';
  readonly question: string;
  readonly choices: readonly string[];
  /** For a permission: the tool and what it would be called with. */
  readonly tool: string | null;
  readonly input: Json;
  /** How much of that the question leaves out because it is too long. */
  readonly missing: number;
  /** All of what is asked for, as it is shown. */
  readonly request: string;
  /** What stands for that in an answer. */
  readonly shown: string | undefined;
  /** What "always" would allow, as it is written down. */
  readonly rule: string | undefined;
  readonly askedAt: string;
  readonly position: number;
}

/** In the order in which they were asked. */
export type Waits = Map<string, Wait>;

export const initialWaits = (): Waits => new Map();

/** Updates and returns the accumulator it was given; the waits inside are never changed. */
export function foldWaits(waits: Waits, event: LedgerEvent): Waits {
  switch (event.event_type) {
    case 'approval.asked':
    case 'task.clarify':
      waits.set(waitKey(event.run_id, event.payload.wait), opened(event));
      return waits;
    case 'approval.answered':
      waits.delete(waitKey(event.run_id, event.payload.wait));
      return waits;
    case 'run.ended':
      for (const [key, wait] of waits) if (wait.run === event.run_id) waits.delete(key);
      return waits;
    default:
      return waits;
  }
}

/** The key of a wait among those of a session. */
export function waitKey(run: string, wait: string): string {
  return `${run} ${wait}`;
}

function opened(event: Extract<LedgerEvent, { event_type: 'approval.asked' | 'task.clarify' }>): Wait {
  const common = { run: event.run_id, wait: event.payload.wait, askedAt: event.timestamp, position: event.position };
  if (event.event_type === 'task.clarify') {
    const { question, choices } = event.payload;
    const asked = { question, choices: choices ?? [], tool: null, input: null, missing: 0, request: '' };
    return { ...common, kind: 'question', ...asked, shown: undefined, rule: undefined };
  }
  const { tool, input, why, shown, rule } = event.payload;
  const request = { ...event.payload, run: event.run_id };
  const { missing } = requestText(request);
  const asked = { question: permissionQuestion(why, request), choices: [], tool, input, missing };
  return { ...common, kind: 'permission', ...asked, request: wholeQuestion(why, event.payload), shown, rule };
}
