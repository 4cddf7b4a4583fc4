/**
 * A door before a Troupe server that makes it a poorer peer: it neither streams nor lets anybody subscribe, and does not say
 * that it takes a message once.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface PolledDoor extends AsyncDisposable {
  readonly origin: string;
  /** The methods that were asked for, in order. */
  readonly asked: readonly string[];
}

/** `answered` is waited for before the answer to a message goes out. */
export async function polledDoor(to: () => string, answered: Promise<void>): Promise<PolledDoor> {
  const asked: string[] = [];
  let origin = '';
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const method = /"method":"(\w+)"/.exec(body)?.[1];
    if (method !== undefined) asked.push(method);
    const { authorization = '', 'a2a-version': version = '1.0' } = request.headers;
    const headers = { authorization, 'a2a-version': String(version), 'content-type': 'application/json' };
    const sent = body === '' ? {} : { body };
    const answer = await fetch(`${to()}${request.url}`, { method: request.method ?? 'GET', headers, ...sent });
    const text = await answer.text();
    if (method === 'SendMessage') await answered;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(request.url?.endsWith('agent-card.json') === true ? poorer(text.replaceAll(to(), origin)) : text);
  };
  const server = createServer((request, response) => void pass(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  origin = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`;
  return {
    ...{ origin, asked },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function poorer(text: string): string {
  const card = JSON.parse(text) as { capabilities: object; supportedInterfaces: readonly { protocolBinding: string }[] };
  return JSON.stringify({
    ...card,
    capabilities: { ...card.capabilities, streaming: false, extensions: [] },
    supportedInterfaces: card.supportedInterfaces.slice(0, 1),
  });
}
