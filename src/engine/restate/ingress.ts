/**
 * Talks to Restate from outside: hands runs over to it and pokes those that wait. Every message may be sent twice without harm,
 * so a node that does not answer is simply replaced by the next one.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { type RestateAddress, runService, sessionService } from './address.ts';

export interface Ingress {
  /** Has a root run worked on, after those of its session that came before. Once, and once more each time it was reopened. */
  startRoot(session: SessionId, run: RunId, reopened: number): Promise<void>;
  /** The same, a while from now, in case that whoever asks does not get to it. */
  startRootLater(session: SessionId, run: RunId): Promise<void>;
  startChild(session: SessionId, run: RunId, reopened: number): Promise<void>;
  poke(run: RunId, delayMs?: number): Promise<void>;
}

export function createIngress({ ingress, name }: RestateAddress, clock: Clock): Ingress {
  const post = async (path: string, body: Json, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    let problem = 'no address';
    for (let attempt = 0; attempt < limits.ingressAttempts; attempt += 1) {
      if (attempt > 0) await sleep(clock, Math.min(limits.ingressRetryMs * 2 ** attempt, limits.retryMaxMs));
      const base = ingress[attempt % ingress.length] ?? '';
      const outcome = await send(`${base}/${path}`, body, headers);
      if (outcome === 'accepted') return;
      problem = `${base}: ${outcome}`;
    }
    throw new TroupeError('restate_unreachable', `Restate could not be reached (${problem}).`, {
      fix: 'Check that its servers run and that `engine` in troupe.yaml names their ingress; troupe doctor looks at it.',
    });
  };
  const drive = (session: SessionId, run: RunId) => ({ session, run });
  const run = (id: RunId, handler: string): string => `${runService(name)}/${id}/${handler}/send`;
  const root = (session: SessionId, handler: string): string => `${sessionService(name)}/${session}/${handler}/send`;
  return {
    startRoot: (session, id, reopened) => post(root(session, 'run'), drive(session, id), once(id, reopened)),
    startRootLater: (session, id) =>
      post(`${root(session, 'check')}?delay=${delayOf(limits.ingressLaterMs)}`, drive(session, id)),
    startChild: (session, id, reopened) => post(run(id, 'drive'), drive(session, id), once(id, reopened)),
    poke: (id, delayMs) => post(`${run(id, 'poke')}${delayMs === undefined ? '' : `?delay=${delayOf(delayMs)}`}`, null),
  };
}

const once = (id: RunId, reopened: number) => ({ 'idempotency-key': reopened === 0 ? id : `${id}.${reopened}` });

const delayOf = (milliseconds: number): string => `${milliseconds}ms`;

async function send(url: string, body: Json, headers: Readonly<Record<string, string>>): Promise<string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(limits.ingressMs),
    });
    await response.arrayBuffer();
    return response.ok ? 'accepted' : `status ${response.status}`;
  } catch (error) {
    return messageOf(error);
  }
}
