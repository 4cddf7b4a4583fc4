/** One connection: the methods of the protocol, each of which becomes a call of the sessions. Errors say what to do. */
import {
  type AgentApp,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from '@agentclientprotocol/sdk';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { acpErrorOf } from '../acp-wire/errors.ts';
import { type AcpClient, createAcpClient } from './client.ts';
import { listSessions } from './known-sessions.ts';
import type { AcpNeeds } from './needs.ts';
import { type AcpSessions, createAcpSessions } from './sessions.ts';

interface Hello {
  readonly name: string;
  readonly capabilities: ClientCapabilities;
}

/** Resolves when the client has gone or `signal` has aborted, and what it asked for stands still. */
export async function serveAcp(needs: AcpNeeds, stream: Stream, signal: AbortSignal): Promise<void> {
  const leaving = new AbortController();
  let hello: Hello = { name: 'unknown', capabilities: {} };
  let sessions: AcpSessions | undefined;
  let close = (): void => undefined;
  const opened = (context: Parameters<typeof createAcpClient>[0]['context']): AcpSessions => {
    const client: AcpClient = createAcpClient({
      ...{ context, ...hello, onError: needs.onError },
      stuck: () => {
        needs.onError(new Error(`The client has not read ${limits.acpUnsent} updates (acpUnsent) and is let go`));
        close();
      },
    });
    sessions ??= createAcpSessions(needs, client, leaving);
    return sessions;
  };
  const app = described(needs, opened, (said) => {
    hello = said;
  });
  const connection = app.connect(stream);
  close = () => connection.close();
  connection.signal.addEventListener('abort', () => leaving.abort(), { once: true });
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  await connection.closed;
  signal.removeEventListener('abort', close);
  await sessions?.leave();
}

type SessionsOf = (context: Parameters<typeof createAcpClient>[0]['context']) => AcpSessions;

function described(needs: AcpNeeds, of: SessionsOf, greeted: (hello: Hello) => void): AgentApp {
  return agent({ name: 'troupe' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      const { clientInfo, clientCapabilities = {} } = params;
      const name = [clientInfo?.name, clientInfo?.version].filter(Boolean).join(' ');
      greeted({ name: name.slice(0, limits.acpTitleCharacters) || 'unknown', capabilities: clientCapabilities });
      return greeting(needs);
    })
    .onRequest(methods.agent.session.new, ({ params, client }) => told(() => of(client).begin(params)))
    .onRequest(methods.agent.session.load, ({ params, client }) => told(() => of(client).load(params, true)))
    .onRequest(methods.agent.session.resume, ({ params, client }) => told(() => of(client).load(params, false)))
    .onRequest(methods.agent.session.list, ({ params }) =>
      told(async () => {
        const { cwd, cursor } = params;
        const project = cwd ? await needs.open(cwd) : await needs.own();
        return await listSessions(project, cwd ?? undefined, cursor ?? undefined);
      }),
    )
    .onRequest(methods.agent.session.close, ({ params, client }) => told(() => of(client).close(params.sessionId)))
    .onRequest(methods.agent.session.setMode, ({ params, client }) =>
      told(async () => of(client).setMode(params.sessionId, params.modeId)),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params, client }) =>
      told(async () => ({ configOptions: await of(client).setOption(params) })),
    )
    .onRequest(methods.agent.session.prompt, ({ params, client, signal }) =>
      told(async () => {
        const session = of(client).named(params.sessionId);
        // A client that takes its request back wants no answer; one that has gone may come back for it.
        const takenBack = (): void => {
          if (signal.reason instanceof RequestError) session.cancel().catch(needs.onError);
        };
        signal.addEventListener('abort', takenBack, { once: true });
        return await session.prompt(params.prompt);
      }),
    )
    .onNotification(methods.agent.session.cancel, async ({ params, client }) => {
      await of(client).named(params.sessionId).cancel();
    });
}

async function told<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw acpErrorOf(error);
  }
}

const greeting = ({ version }: AcpNeeds): InitializeResponse => ({
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: 'troupe', title: 'Troupe', version },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: false },
    sessionCapabilities: { list: {}, resume: {}, close: {} },
  },
  ...present({ authMethods: [] }),
});
