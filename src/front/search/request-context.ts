/** What one request to a model contained: every part with where it came from and how large it is. */
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { Message } from '../../events/messages.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { messageTokens, textTokens } from '../../models/tokens.ts';
import { leavesSystem, piecesOf } from '../../projections/context/context-parts.ts';
import { createTranscripts, originOfSaid } from '../../projections/transcript.ts';

export interface ContextPart {
  /** `system`, `tools`, or what `piecesOf` says. */
  readonly origin: string;
  readonly characters: number;
  readonly tokens: number;
  /** The run and the step that it came from, where it came from one. */
  readonly from: string | null;
  readonly text: string;
}

const TEXT_CHARACTERS = 400;

/** Of the newest request when no turn is named; `undefined` when there is none. */
export async function readContext(ledger: Pick<Ledger, 'read'>, { session, run }: RunRow, turn: number | undefined) {
  const transcripts = createTranscripts();
  let setup: Payloads['session.config'] | undefined;
  let isSystemLeft = false;
  let asked:
    | { readonly request: Payloads['model.request']; readonly position: number; readonly messages: readonly Message[] }
    | undefined;
  let answered: Payloads['model.response'] | undefined;
  for await (const event of readEvents(ledger, { session })) {
    transcripts.apply(event);
    if (event.run_id !== run) continue;
    if (event.event_type === 'session.config') setup = event.payload;
    if (event.event_type === 'run.reopened') isSystemLeft ||= leavesSystem(event.payload.without);
    const isMeant = 'turn' in event.payload && (turn === undefined || event.payload.turn === turn);
    if (event.event_type === 'model.request' && isMeant) {
      asked = { request: event.payload, position: event.position, messages: transcripts.of(run as RunId) };
      answered = undefined;
    }
    if (event.event_type === 'model.response' && isMeant) answered = event.payload;
  }
  if (asked === undefined) return undefined;
  const { request, position, messages } = asked;
  const offered = setup?.tools.filter(({ name }) => request.tools?.includes(name) ?? true) ?? [];
  const parts = [
    ...(isSystemLeft ? [] : [partOf('system', setup?.system ?? '', null)]),
    ...offered.map((tool) => partOf('tools', JSON.stringify(tool), null)),
    ...messages.flatMap(partsIn),
  ];
  const shown = parts.slice(-limits.contextParts);
  const byOrigin = Object.entries(Object.groupBy(parts, ({ origin }) => origin)).map(([origin, of = []]) => ({
    ...{ origin, parts: of.length, characters: sum(of, 'characters'), tokens: sum(of, 'tokens') },
  }));
  return {
    ...{ run, session, turn: request.turn, model: request.model, position },
    total: { parts: parts.length, characters: sum(parts, 'characters'), tokens: sum(parts, 'tokens') },
    inputTokens: answered?.usage.inputTokens ?? null,
    byOrigin: byOrigin.toSorted((left, right) => right.tokens - left.tokens),
    parts: shown,
    leftOut: parts.length - shown.length,
  };
}

const sum = (parts: readonly ContextPart[], of: 'characters' | 'tokens'): number =>
  parts.reduce((total, part) => total + part[of], 0);

const partOf = (origin: string, text: string, from: string | null, tokens = textTokens(text)): ContextPart => ({
  ...{ origin, characters: text.length, tokens, from, text: text.slice(0, TEXT_CHARACTERS) },
});

const partsIn = (message: Message): readonly ContextPart[] =>
  piecesOf(message, originOfSaid).map(({ origin, from, sent }) => {
    if (typeof sent === 'string') return partOf(origin, sent, from);
    return partOf(origin, JSON.stringify(contentIn(sent)), from, messageTokens(sent));
  });

const contentIn = (sent: Message): unknown => (sent.role === 'tool' ? sent.content[0]?.content : sent.content);
