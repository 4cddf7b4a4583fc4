/**
 * Parts of the context that a fork goes on without: found in the request that the source made next, and recorded part by part,
 * so that whoever sends a request later knows them again.
 */
import { hasOwnModels } from '../../agents/definition/executor.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { LeftOutPart } from '../../events/going-on.ts';
import { type ContextPiece, leftOutPart, piecesOf } from '../../projections/context/context-parts.ts';
import { createTranscripts, originOfSaid } from '../../projections/transcript.ts';
import { recordedDefinition } from '../record/agent-setup.ts';
import { standing } from '../record/standing-events.ts';
import type { ForkPlace } from './places.ts';

type Request = EventOf<'model.request'>;

const refused = (message: string, fix: string): Failure => ({ code: 'fork_set', message: `${message}.`, fix });

/** Right before the newest request of the run, when nobody has said where. */
export function placeForWithout(events: readonly LedgerEvent[], run: RunId): string | undefined {
  const last = standing(events).findLast(({ event_type, run_id }) => event_type === 'model.request' && run_id === run);
  return last === undefined ? undefined : String(last.position - 1);
}

/** `events`: those of the source. Every origin that is named has to be there. */
export function partsWithout(
  events: readonly LedgerEvent[],
  { run, position }: Pick<ForkPlace, 'run' | 'position'>,
  origins: readonly string[],
): Result<readonly LeftOutPart[], Failure> {
  const request = standing(events).find(
    (event): event is Request => event.event_type === 'model.request' && event.run_id === run && event.position > position,
  );
  if (request === undefined)
    return fail(refused(`Run ${shortId(run)} asks no model behind this place`, 'name an earlier one with --at'));
  const setup = events.findLast(
    (event): event is EventOf<'session.config'> =>
      event.event_type === 'session.config' && event.run_id === run && event.position < request.position,
  );
  if (setup !== undefined && hasOwnModels(recordedDefinition(setup.payload)))
    return fail(
      refused('Whoever works for this agent keeps its conversation itself', 'fork it with another prompt: --set prompt=…'),
    );
  const pieces = [systemPiece(setup?.payload.system ?? ''), ...sentWith(events, request)];
  const left: LeftOutPart[] = [];
  for (const named of origins) {
    if (named === 'tools')
      return fail(refused('Tools are a matter of the agent', 'give a file that names fewer: --set agent=FILE'));
    const found = pieces.filter(({ origin, from }) => origin === named || from === named || from?.endsWith(` ${named}`) === true);
    if (found.length === 0) return fail(notThere(named, request, pieces));
    left.push(...found.map((piece) => (piece.origin === 'system' ? { origin: 'system' } : leftOutPart(piece))));
  }
  return ok(left);
}

const systemPiece = (system: string): ContextPiece => ({ origin: 'system', from: null, words: system, sent: system });

/** The conversation as this request sent it. */
function sentWith(events: readonly LedgerEvent[], request: Request): readonly ContextPiece[] {
  const transcripts = createTranscripts();
  for (const event of events) {
    if (event.position > request.position) break;
    transcripts.apply(event);
  }
  return transcripts.of(request.run_id).flatMap((message) => piecesOf(message, originOfSaid));
}

function notThere(named: string, { payload: { turn }, run_id: run }: Request, pieces: readonly ContextPiece[]): Failure {
  const origins = [...new Set(pieces.map(({ origin }) => origin))];
  return refused(
    `There is no ${JSON.stringify(named)} in the request of turn ${turn} of run ${shortId(run)}`,
    `name one of these: ${origins.join(', ')}; or the step of a part: troupe context ${shortId(run)} --turn ${turn} --parts`,
  );
}

/** In the words of the fork, where runs have other ids. */
export const leftOutThere = (parts: readonly LeftOutPart[], words: (text: string) => string): readonly LeftOutPart[] =>
  parts.map(({ origin, from, text }) => ({
    origin,
    ...present({ from: from === undefined ? undefined : words(from), text: text === undefined ? undefined : words(text) }),
  }));
