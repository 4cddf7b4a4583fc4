/** What a session knows while it lives, and where that which an executor tells goes. */
import type { Clock } from '../../base/clock.ts';
import { visibleText } from '../../base/visible-text.ts';
import { sessionUpdate } from '../acp-wire/schemas.ts';
import type { WireFault } from '../acp-wire/wire.ts';
import type { ExecutorUpdate } from '../port.ts';
import { type Calls, createCalls } from './calls.ts';
import { createPromptFollower, type PromptFollower } from './follower.ts';
import { createTerminals, type TerminalNeeds, type Terminals } from './terminals.ts';
import type { PromptTurn } from './turn.ts';
import { updateOf } from './updates.ts';

export interface ExecutorState {
  session: string | undefined;
  /** The prompt that is worked on, or that ended while nobody followed. */
  turn: PromptTurn | undefined;
  mode: string | undefined;
  /** Of the whole session, as it last said; and as it had said when the prompt went out. */
  costUsd: number | undefined;
  costBefore: number | undefined;
  /** The first line that was no message. */
  junk: string | undefined;
  readonly follower: PromptFollower;
  readonly calls: Calls;
  readonly terminals: Terminals;
  /** Takes what it tells, at once. */
  told(params: unknown): void;
  fault(fault: WireFault, sample: string): void;
}

const SAMPLE = 200;

export interface StateNeeds {
  readonly clock: Clock;
  /** The title of a call is the command that it runs. */
  readonly titleIsCommand: boolean;
  /** The walls for commands that are run for it. */
  readonly enter: TerminalNeeds['enter'];
  redact(text: string): string;
}

export function createState({ clock, titleIsCommand, enter, redact }: StateNeeds): ExecutorState {
  const follower = createPromptFollower();
  const terminals = createTerminals({
    clock,
    enter,
    ran: (command) => {
      const { line, stdout, stderr } = command;
      follower.tell({
        what: 'ran',
        command: { ...command, line: redact(line), stdout: redact(stdout), stderr: redact(stderr) },
      });
    },
  });
  const calls = createCalls({ titleIsCommand, terminal: (id) => terminals.output(id)?.text });
  const pass = (updates: readonly ExecutorUpdate[]): void => {
    for (const update of updates) follower.tell({ what: 'update', update });
  };
  const state: ExecutorState = {
    ...{ session: undefined, turn: undefined, mode: undefined, costUsd: undefined, costBefore: undefined, junk: undefined },
    ...{ follower, calls, terminals },
    told(params) {
      const parsed = sessionUpdate.safeParse(params);
      const turn = state.turn?.isOver() === false ? state.turn : undefined;
      if (!parsed.success) return pass(turn?.notice(NOT_UNDERSTOOD) ?? []);
      // Of other sessions nothing is known; and what is told outside a prompt is the past, or nobody's business.
      if (parsed.data.sessionId !== state.session) return;
      const { sessionUpdate: kind } = parsed.data.update;
      const update = updateOf(kind, parsed.data.update, calls);
      if (update === undefined) return;
      if (update === 'lost') return pass(turn?.notice(NOT_UNDERSTOOD) ?? []);
      if (update.kind === 'usage' && update.costUsd !== undefined) {
        // It tells what all has cost so far: what was spent is not less for having told less later.
        state.costUsd = Math.max(state.costUsd ?? 0, update.costUsd);
        return pass(turn?.take({ ...update, costUsd: Math.max(0, state.costUsd - (state.costBefore ?? 0)) }) ?? []);
      }
      if (update.kind === 'mode' && update.mode === state.mode) return;
      if (update.kind === 'mode') state.mode = update.mode;
      pass(turn?.take(update) ?? []);
    },
    fault(fault, sample) {
      const shown = visibleText(redact(sample).slice(0, SAMPLE));
      if (fault === 'broken') state.junk ??= shown;
      pass(
        state.turn?.notice(
          fault === 'broken'
            ? `It wrote lines that are no messages; they are left out. The first: ${shown}`
            : 'It answered what nobody asked, or answered twice; that is left out.',
          fault,
        ) ?? [],
      );
    },
  };
  return state;
}

const NOT_UNDERSTOOD = 'It told of something in a way that is not the protocol; that is left out.';
