/** The sessions of the sample executor: their modes, and their past in files, so that another process can load them. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NewSessionRequest, type NewSessionResponse, RequestError } from '@agentclientprotocol/sdk';

const MODES = ['plan', 'default', 'https://modes.example#agent'];
const MODELS = ['small', 'large'];

export interface SampleSession {
  readonly mcp: readonly string[];
  readonly cwd: string;
  mode: string;
  model: string;
}

export function createSessions(store: string | undefined, how: string) {
  const known = new Map<string, SampleSession>();
  const file = (id: string): string => join(store ?? '', `${id}.json`);
  const of = (id: string): SampleSession => {
    const found = known.get(id);
    if (found !== undefined) return found;
    if (store === undefined || !existsSync(file(id))) throw RequestError.resourceNotFound(id);
    const fresh: SampleSession = { mcp: [], cwd: '', mode: 'default', model: 'small' };
    known.set(id, fresh);
    return fresh;
  };
  const options = ({ mode, model }: SampleSession) => [
    ...(how === 'options'
      ? [{ id: 'mode', name: 'Mode', type: 'select' as const, category: 'mode', currentValue: mode, options: named(MODES) }]
      : []),
    {
      ...{ id: 'llm', name: 'Model', type: 'select' as const, category: 'model', currentValue: model },
      options: [{ group: 'all', name: 'All', options: named(MODELS) }],
    },
  ];
  const facts = (id: string): Omit<NewSessionResponse, 'sessionId'> => {
    const session = of(id);
    const modes = { currentModeId: session.mode, availableModes: MODES.map((one) => ({ id: one, name: one })) };
    return { ...(how === 'modes' ? { modes } : {}), configOptions: options(session) };
  };
  return {
    facts,
    about: of,
    create({ cwd, mcpServers }: NewSessionRequest): NewSessionResponse {
      const id = `sample-${randomUUID()}`;
      const mcp = mcpServers.map((server) => `${'type' in server ? server.type : 'stdio'}:${server.name}`);
      known.set(id, { cwd, mcp, mode: 'default', model: 'small' });
      if (store !== undefined) writeFileSync(file(id), '[]');
      return { sessionId: id, ...facts(id) };
    },
    setMode(id: string, mode: string) {
      if (!MODES.includes(mode)) throw RequestError.invalidParams();
      of(id).mode = mode;
      return {};
    },
    setOption(id: string, option: string, value: string) {
      if (option === 'mode') of(id).mode = value;
      else of(id).model = value;
      return { configOptions: options(of(id)) };
    },
    remember(id: string, text: string): void {
      if (store !== undefined) writeFileSync(file(id), JSON.stringify([...this.past(id), text]));
    },
    past(id: string): readonly string[] {
      if (store === undefined || !existsSync(file(id))) throw RequestError.resourceNotFound(id);
      return JSON.parse(readFileSync(file(id), 'utf8')) as string[];
    },
  };
}

const named = (values: readonly string[]) => values.map((value) => ({ value, name: value }));
