/** A real HTTP server for cards, and what reads them in tests: a clock that can be set and hosts that count as public. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { ok } from '../../../src/base/result.ts';
import { reachableAddresses } from '../../../src/network/addresses.ts';
import type { FindAddresses } from '../../../src/network/follow.ts';
import { checkCard } from '../../../src/peers/cards/check-card.ts';
import { keepsNoCards } from '../../../src/peers/cards/kept-cards.ts';
import type { CardPorts, CardSource } from '../../../src/peers/cards/port.ts';

export interface CardServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly asked: IncomingMessage[];
  close(): Promise<void>;
}

export async function cardServer(listener: RequestListener): Promise<CardServer> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port, asked, close, url: `http://127.0.0.1:${port}/card.json`, [Symbol.asyncDispose]: close };
}

export const answers = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestListener => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (_request, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
};

/** A good card of version 1.0 with its interface at this address. */
export const goodCard = (url: string, more: JsonObject = {}): JsonObject => ({
  name: 'Weather',
  description: 'Says what the weather will be',
  version: '2.1.0',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'forecast', name: 'Forecast', description: 'For a place', tags: ['weather'], examples: ['Rain in Rome?'] }],
  ...more,
});

/** A card of version 0.3. */
export const olderCard = (url: string, more: JsonObject = {}): JsonObject => ({
  name: 'Old weather',
  description: 'Says what the weather was',
  url,
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
  version: '1.0.0',
  capabilities: { streaming: true },
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  skills: [{ id: 'past', name: 'Past', description: 'For a place', tags: ['weather'] }],
  securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  security: [{ token: [] }],
  ...more,
});

/** Hosts below `example` are this machine and count as public. */
export const publicExamples: FindAddresses = async (host, allowLocal) =>
  host.endsWith('.example') ? ok([{ address: '127.0.0.1', family: 4 }]) : await reachableAddresses(host, allowLocal);

export const source = (url: string, more: Partial<CardSource> = {}): CardSource => ({
  address: new URL(url),
  headers: {},
  ...more,
});

export const cardPorts = (more: Partial<CardPorts> = {}): CardPorts => ({
  ...{ clock: systemClock, kept: keepsNoCards, addresses: publicExamples },
  ...more,
});

/** Waits a thousandth of what it is told. */
export const hurried: Clock = {
  ...systemClock,
  after: (delayMs, callback, hold) => systemClock.after(delayMs / 1_000, callback, hold),
};

/** What a pin on it says. */
export function hashOf(card: string): string {
  const checked = checkCard(card);
  if (!checked.ok) throw new Error(checked.error);
  return checked.value.hash;
}
