/** What one request to a model contained: by where it came from, how large, and what was new in it. */
import { counted } from '../../../src/base/wording.ts';
import type { EventOf, LedgerEvent } from '../../../src/events/envelope.ts';
import { firstLine, readableCount } from '../../../src/projections/readable.ts';
import type { ContextReport } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { type Query, useQuery } from '../../app/query.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import { ShownText } from '../../parts/shown-text.tsx';
import '../../parts/styles/empty.css';
import { useLoaded } from '../../store/hooks.ts';
import './context.css';

export function View({ params: { session = '' } }: ViewProps) {
  return (
    <SessionPage session={session} title="Context" name="context">
      {(shown) => <Requests shown={shown} />}
    </SessionPage>
  );
}

type Request = EventOf<'model.request'>;

const NEWEST = 200;

function Requests({ shown }: { readonly shown: Shown }) {
  const query = useQuery();
  const run = query.get('run');
  const isRequest = (event: LedgerEvent): event is Request =>
    event.event_type === 'model.request' && (run === undefined || event.run_id === run);
  const requests = shown.events.filter(isRequest).toReversed();
  const chosen = requests.find(({ position }) => String(position) === query.get('request')) ?? requests[0];
  if (chosen === undefined)
    return (
      <div className="empty">
        <h2>No model was asked yet</h2>
        <p>Once a run asks its model, this shows what it was given: instructions, tools, and everything said before.</p>
      </div>
    );
  return (
    <div className="view-body column">
      <Choice requests={requests.slice(0, NEWEST)} chosen={chosen} shown={shown} query={query} />
      <Contained request={chosen} />
    </div>
  );
}

interface ChoiceProps {
  readonly requests: readonly Request[];
  readonly chosen: Request;
  readonly shown: Shown;
  readonly query: Query;
}

function Choice({ requests, chosen, shown, query }: ChoiceProps) {
  const { runs } = shown.fold.tree;
  const index = requests.indexOf(chosen);
  const go = (to: Request | undefined) => {
    if (to !== undefined) query.set({ request: String(to.position) });
  };
  return (
    <div className="form-row">
      <button type="button" className="button" disabled={index >= requests.length - 1} onClick={() => go(requests[index + 1])}>
        ← earlier
      </button>
      <label>
        <span className="unseen">Which request</span>
        <select className="field" value={chosen.position} onChange={(event) => query.set({ request: event.target.value })}>
          {requests.map(({ position, run_id, payload }) => (
            <option key={position} value={position}>
              {runs.get(run_id)?.agent ?? 'run'}, turn {payload.turn}, event {position}
            </option>
          ))}
        </select>
      </label>
      <button type="button" className="button" disabled={index <= 0} onClick={() => go(requests[index - 1])}>
        later →
      </button>
    </div>
  );
}

/** What an origin is called; a tool has its own name. */
const WORDS: Readonly<Record<string, string>> = {
  system: 'its instructions',
  tools: 'tools that were offered',
  input: 'what it was asked',
  runtime: 'what it was told by the runtime',
  answer: 'its own answers',
};

const wordsOf = (origin: string): string => WORDS[origin] ?? `results of ${origin.replace(/^tool /, '')}`;
const colourOf = (origin: string): string => (origin in WORDS ? origin : 'result');

function Contained({ request: { run_id, payload } }: { readonly request: Request }) {
  const context = useLoaded<ContextReport>(`/runs/${run_id}/context`, { turn: payload.turn });
  return (
    <LoadedView loaded={context} what="what the request contained">
      {(report) => <Report report={report} />}
    </LoadedView>
  );
}

function Report({ report: { model, total, byOrigin, inputTokens, parts, leftOut } }: { readonly report: ContextReport }) {
  const share = (tokens: number): number => (total.tokens === 0 ? 0 : tokens / total.tokens);
  return (
    <>
      <p>
        {model}: about {readableCount(total.tokens)} tokens, {readableCount(total.characters)} characters
        {inputTokens === null ? '' : `; ${readableCount(inputTokens)} tokens by the provider’s count`}.
      </p>
      <div className="x-ray" aria-hidden="true">
        {byOrigin.map(({ origin, tokens }) => (
          <span
            key={origin}
            className={`x-ray-part x-${colourOf(origin)}`}
            style={{ flexGrow: Math.max(LEAST, share(tokens)) }}
          />
        ))}
      </div>
      <ul className="x-ray-list">
        {byOrigin.map(({ origin, tokens, characters, parts: count }) => (
          <li key={origin}>
            <h2>
              <span className={`x-ray-sign x-${colourOf(origin)}`} aria-hidden="true" /> {wordsOf(origin)}{' '}
              <span className="quiet">
                {percent(share(tokens))}, about {readableCount(tokens)} tokens, {readableCount(characters)} characters in{' '}
                {counted(count, 'part')}
              </span>
            </h2>
            {parts.map((part, index) =>
              // biome-ignore lint/suspicious/noArrayIndexKey: parts of one request, always in this order
              part.origin === origin ? <Part key={index} part={part} words={percent(share(part.tokens))} /> : null,
            )}
          </li>
        ))}
      </ul>
      {leftOut > 0 && <p className="quiet">{counted(leftOut, 'earlier part')} are counted and not shown.</p>}
    </>
  );
}

/** What is small is still seen. */
const LEAST = 0.002;

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

const TITLE_CHARACTERS = 80;

function Part({ part, words }: { readonly part: ContextReport['parts'][number]; readonly words: string }) {
  return (
    <details className="x-ray-text">
      <summary>
        {firstLine(part.text, TITLE_CHARACTERS)}{' '}
        <span className="quiet">
          {words}, about {readableCount(part.tokens)} tokens
        </span>
      </summary>
      <ShownText text={part.text} isDiff={false} label={wordsOf(part.origin)} />
      {part.text.length < part.characters && <p className="quiet">{part.characters - part.text.length} further characters.</p>}
    </details>
  );
}
