/** How a loop ends that brings no report: a run never ends without a result. */
import { type Message, textOf } from '../events/messages.ts';
import type { LoopResult } from './port.ts';

export interface WithoutReport {
  readonly status: Exclude<LoopResult['status'], 'completed'>;
  readonly error: NonNullable<LoopResult['error']>;
  readonly turns: number;
  /** Empty when the agent has said nothing. */
  readonly lastWords: string;
}

/** The result says why there is no better one, and carries what the agent said last. */
export function withoutReport({ status, error, turns, lastWords }: WithoutReport): LoopResult {
  const body = lastWords === '' ? error.message : `${error.message}\n\nThe last thing the agent said:\n\n${lastWords}`;
  return { status, report: { format: 'text', body, synthetic: true }, claims: [], error, turns };
}

/** The last text of the agent itself; a message that only calls tools says nothing. */
export function lastWordsOf(messages: readonly Message[]): string {
  const spoke = messages.findLast(({ role, content }) => role === 'assistant' && textOf(content).trim() !== '');
  return spoke === undefined ? '' : textOf(spoke.content).trim();
}
