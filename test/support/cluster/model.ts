/**
 * A model over HTTP for many workers: it answers by a function, and keeps who asked what and when. Tools report here too what
 * they have done, so that the test sees an effect happening twice, whichever process it happened in.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { Brain } from '../world.ts';

export interface Asked {
  readonly key: string;
  readonly at: number;
  /** Which worker asked: what it was started as. */
  readonly by: string;
  answered: boolean;
}

export interface CountingModel {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** The idempotency keys of calls to tools that must not be repeated. */
  readonly effects: readonly string[];
  close(): Promise<void>;
}

export async function startCountingModel(brain: Brain, delayMs: () => number): Promise<CountingModel> {
  const asked: Asked[] = [];
  const effects: string[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { by, request } = JSON.parse(await bodyOf(incoming)) as { by: string; request: ModelRequest };
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const noted: Asked = { key: request.idempotencyKey, at: Date.now(), by, answered: false };
    asked.push(noted);
    await delay(delayMs());
    const outcome = await brain({ ...request, signal: gone.signal }, asked.length);
    response.end(JSON.stringify(outcome), () => {
      noted.answered = true;
    });
  };
  const server = createServer((incoming, response) => {
    if (incoming.url !== '/effect') return void answer(incoming, response).catch(() => response.destroy());
    void bodyOf(incoming).then((key) => {
      effects.push(key);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    effects,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString('utf8');
}

/** Asks such a model. */
export function modelAt(url: string, by: string): Brain {
  return async ({ signal, onDelta: _shown, ...request }) => {
    try {
      const response = await fetch(`${url}/ask`, { method: 'POST', body: JSON.stringify({ by, request }), signal });
      return (await response.json()) as ModelOutcome;
    } catch {
      const kind = signal.aborted ? 'cancelled' : 'network';
      return { kind: 'failed', error: { kind, message: 'the model was cut off' } };
    }
  };
}

export async function reportEffect(url: string, key: string): Promise<void> {
  await (await fetch(`${url}/effect`, { method: 'POST', body: key })).arrayBuffer();
}
