/** How a turn rests, in the words of OpenAI: an answer, a text that says who is asked what and where, or what went wrong. */
import { unreachable } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import { sentence } from '../../base/wording.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { ChatRest, RestedTurn } from '../../front/chat/follow.ts';
import type { ChatNeeds } from '../../front/chat/needs.ts';
import type { ChatTurn } from '../../front/chat/turn.ts';
import { subtreeSpending } from '../../projections/run-tree.ts';
import type { Wait } from '../../projections/waits.ts';
import { failedRun, type OpenAiFailure, outOfBudget } from './errors.ts';

export type TurnOut =
  | { readonly kind: 'answer'; readonly text: string; readonly cut: boolean }
  | { readonly kind: 'asks'; readonly text: string }
  | { readonly kind: 'failed'; readonly failure: OpenAiFailure };

export function turnOut(needs: Pick<ChatNeeds, 'answerLink'>, rest: ChatRest): TurnOut {
  switch (rest.kind) {
    case 'ended':
      return endOut(rest.end);
    case 'asks':
      return { kind: 'asks', text: rest.waits.map((wait) => waitText(wait, needs.answerLink(wait))).join('\n\n') };
    case 'still': {
      const { still } = rest;
      const said = still.kind === 'paused' ? `It was paused: ${still.reason}` : still.error.message;
      return { kind: 'failed', failure: failedRun(still.kind, `${sentence(said)} Say something to have it go on.`) };
    }
    case 'left':
      return {
        kind: 'failed',
        failure: { ...failedRun('interrupted', 'The server stops; the run goes on later.'), status: 503 },
      };
    default:
      return unreachable(rest);
  }
}

function endOut({ status, report, error }: Payloads['run.ended']): TurnOut {
  if (succeeded({ status })) return { kind: 'answer', text: report.body, cut: report.cut === true };
  const message = error?.message ?? report.body;
  if (status === 'budget_exhausted') return { kind: 'failed', failure: outOfBudget(message) };
  return { kind: 'failed', failure: failedRun(status === 'cancelled' ? 'cancelled' : (error?.code ?? status), message) };
}

/** A question is answered by the next message. A permission is nothing that words can give. */
function waitText({ kind, question, choices }: Wait, link: string): string {
  const lines = [question, ...choices.map((choice) => `- ${choice}`)];
  return kind === 'question'
    ? [...lines, '', `Answer here, or at ${link}`].join('\n')
    : [
        'It waits for a permission, which words here do not give:',
        '',
        ...lines,
        '',
        `Decide at ${link}, then say anything here.`,
      ].join('\n');
}

/** What is ours to tell, beside what the protocol has a place for. */
export function aboutTurn({ run, session }: ChatTurn, { rest, tree }: RestedTurn) {
  const { nanoUsd, unknownCalls } = subtreeSpending(tree, run);
  const end =
    rest.kind === 'ended' ? { status: rest.end.status, verification: rest.end.verification.state } : { status: rest.kind };
  return { run, session, ...end, cost_usd: nanoUsd / 1e9, ...present({ unknown_prices: unknownCalls || undefined }) };
}

export function tokensUsed({ run }: ChatTurn, { tree }: RestedTurn) {
  const { inputTokens, outputTokens, cacheReadTokens } = subtreeSpending(tree, run);
  return { inputTokens, outputTokens, cacheReadTokens, total: inputTokens + outputTokens };
}
