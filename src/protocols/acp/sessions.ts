/** The sessions that one client has open. When the client goes, what is being answered is left so that it can be taken up. */
import { isAbsolute } from 'node:path';
import type {
  LoadSessionRequest,
  McpServer,
  NewSessionRequest,
  SessionConfigOption,
  SessionModeState,
  SetSessionConfigOptionRequest,
} from '@agentclientprotocol/sdk';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { acpError } from '../acp-wire/errors.ts';
import type { AcpClient } from './client.ts';
import { knownSession } from './known-sessions.ts';
import { configOptions, modelChosen, modeNamed, modeState } from './modes.ts';
import type { AcpMode, AcpNeeds, AcpProject } from './needs.ts';
import { replay } from './replay.ts';
import { serversIn } from './servers-in.ts';
import { type AcpSession, createAcpSession, type SessionStart } from './session.ts';

/** What a client is told of a session that it has opened. */
export interface Opened {
  readonly sessionId: string;
  readonly modes: SessionModeState;
  readonly configOptions: SessionConfigOption[];
}

export interface AcpSessions {
  begin(request: NewSessionRequest): Promise<Opened>;
  /** `replayed`: what was said before is told again, before this resolves. */
  load(request: Pick<LoadSessionRequest, 'sessionId' | 'cwd'> & Brings, replayed: boolean): Promise<Opened>;
  named(id: string): AcpSession;
  setMode(id: string, mode: string): void;
  setOption(request: SetSessionConfigOptionRequest): Promise<SessionConfigOption[]>;
  /** Ends what is being answered, and forgets the session; what was said stays in the ledger. */
  close(id: string): Promise<void>;
  /** The client has gone. */
  leave(): Promise<void>;
}

interface Brings {
  readonly mcpServers?: readonly McpServer[] | undefined;
}

const GONE = 'the client has gone';

export function createAcpSessions(needs: AcpNeeds, client: AcpClient, leaving: AbortController): AcpSessions {
  const open = new Map<string, AcpSession>();
  const add = async (start: Omit<SessionStart, 'needs' | 'client' | 'leaving'>, brings: Brings): Promise<Opened> => {
    if (open.size >= limits.acpSessions && !open.has(start.id))
      throw acpError({
        code: 'limit',
        message: `This connection has ${limits.acpSessions} sessions open (acpSessions).`,
        fix: 'Close one: session/close.',
      });
    const servers = serversIn(brings.mcpServers ?? []);
    if (!servers.ok) throw acpError({ code: 'usage', message: `${servers.error}.` });
    start.project.bring(start.id, servers.value);
    open.set(start.id, createAcpSession({ ...start, needs, client, leaving: leaving.signal }));
    const configured = await configOptions(start.project, start.chosen);
    needs.clock.after(0, () => void tellCommands(client, start.project, start.id).catch(needs.onError));
    return { sessionId: start.id, modes: modeState(start.chosen.mode), configOptions: configured };
  };
  const named = (id: string): AcpSession => {
    const session = open.get(id);
    if (session !== undefined) return session;
    const message = `There is no session ${JSON.stringify(id.slice(0, 100))} open on this connection.`;
    throw acpError({ code: 'unknown_session', message, fix: 'Begin one with session/new, or load it with session/load.' });
  };
  const setMode = (session: AcpSession, word: string): void => {
    const mode = modeNamed(word);
    if (mode === undefined) throw acpError({ code: 'usage', message: `There is no mode ${JSON.stringify(word.slice(0, 100))}.` });
    refuseWhileAtWork(session, mode);
    session.chosen.mode = mode;
    client.update(session.id, { sessionUpdate: 'current_mode_update', currentModeId: mode });
  };
  return {
    named,
    async begin({ cwd, mcpServers }) {
      const project = await needs.open(absolute(cwd));
      const chosen = { agent: await project.firstAgent(), model: needs.model, mode: needs.mode };
      return await add({ project, id: needs.ids.session(), cwd, chosen, nanoUsd: 0, begun: false }, { mcpServers });
    },
    async load({ sessionId, cwd, mcpServers }, replayed) {
      if (open.get(sessionId)?.isBusy() === true)
        throw acpError({
          code: 'busy',
          message: 'This session is answering a prompt on this connection.',
          fix: 'Cancel it first.',
        });
      const project = await needs.open(absolute(cwd));
      const id = sessionId as SessionId;
      const { agent, model, mode, nanoUsd } = await knownSession(project, sessionId);
      const chosen = { agent, model: model ?? needs.model, mode };
      const opened = await add({ project, id, cwd, chosen, nanoUsd, begun: true }, { mcpServers });
      if (replayed) await replay(project.ledger, id, cwd, (update) => client.update(id, update));
      return opened;
    },
    setMode: (id, word) => setMode(named(id), word),
    async setOption(request) {
      const session = named(request.sessionId);
      await choose(session, request, setMode);
      return await configOptions(session.project, session.chosen);
    },
    async close(id) {
      const session = named(id);
      if (session.isBusy()) await session.cancel();
      open.delete(id);
      session.project.forget(session.id);
    },
    async leave() {
      leaving.abort();
      if (!needs.isShared) return;
      await Promise.all([...open.values()].map(pauseRun));
      for (const { project, id } of open.values()) project.forget(id);
    },
  };
}

function absolute(cwd: string): string {
  if (isAbsolute(cwd) && cwd.length <= limits.pathCharacters) return cwd;
  throw acpError({
    code: 'usage',
    message: '`cwd` must be an absolute path.',
    fix: 'Give the folder that the session works in.',
  });
}

/** What was begun freely stays so until it ends: less freedom would come too late for it. */
function refuseWhileAtWork(session: AcpSession, mode: AcpMode): void {
  if (!session.isBusy() || mode === 'full' || mode === session.chosen.mode) return;
  throw acpError({
    code: 'busy',
    message: 'A prompt is being answered under the mode that it began with.',
    fix: 'Cancel it, or choose the mode when it is done.',
  });
}

async function choose(
  session: AcpSession,
  request: SetSessionConfigOptionRequest,
  setMode: (session: AcpSession, mode: string) => void,
): Promise<void> {
  const { configId, value } = request;
  const refuse = (message: string): never => {
    throw acpError({ code: 'usage', message });
  };
  if (typeof value !== 'string') return refuse(`"${configId}" is chosen by a word.`);
  const { project, chosen } = session;
  switch (configId) {
    case 'mode':
      return setMode(session, value);
    case 'agent':
      if (!(await project.agents()).some(({ name }) => name === value)) refuse(`There is no agent ${JSON.stringify(value)}.`);
      chosen.agent = value;
      return;
    case 'model': {
      const model = modelChosen(value);
      const problem = model === undefined ? undefined : await project.modelProblem(model);
      if (problem !== undefined) refuse(problem);
      chosen.model = model;
      return;
    }
    default:
      refuse(`There is no option ${JSON.stringify(configId.slice(0, 100))}: mode, model, agent.`);
  }
}

async function tellCommands(client: AcpClient, project: AcpProject, session: string): Promise<void> {
  const agents = (await project.agents()).slice(0, limits.acpChoices);
  const availableCommands = agents.map(({ name, description }) => ({
    ...{ name, description: description ?? `asks ${name}`, input: { hint: 'what it should do' } },
  }));
  client.update(session, { sessionUpdate: 'available_commands_update', availableCommands });
}

async function pauseRun({ project, working }: AcpSession): Promise<void> {
  const run = working();
  if (run !== undefined) await project.engine.pause(run, GONE);
}
