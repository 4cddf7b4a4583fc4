import { describe, expect, it } from 'vitest';
import { agent } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { ClientRights } from '../../events/assistants.ts';
import { commandsRefusal, mayBeSpawned } from './client-rights.ts';

const RIGHTS: ClientRights = { commands: 'all', answers: true, approves: true };

const agents: readonly AgentDefinition[] = [
  agent({ name: 'reader', tools: [] }),
  agent({ name: 'builder', tools: ['shell'] }),
  agent({ name: 'lead', tools: [], agents: ['reader', 'helper'] }),
  agent({ name: 'helper', tools: [], agents: ['builder', 'lead'] }),
  agent({ name: 'planner', tools: [], architect: { executor: 'reader', fallbackExecutors: ['codex'] } }),
];
const named = (name: string): AgentDefinition => agents.find((one) => one.name === name) as AgentDefinition;
const options = {
  agent: async (name: string) => agents.find((one) => one.name === name),
  commandsOf: ({ name, executor }: AgentDefinition) => (name === 'builder' ? 'shell' : executor?.name),
};

describe('an agent that works for a client', () => {
  it('is refused when it can run commands', async () => {
    expect(await commandsRefusal(options, named('builder'), { ...RIGHTS, commands: [] })).toMatchObject({
      code: 'commands_refused',
      message: 'Not spawned: builder can run commands (shell), as the same user as the runs of all other callers of this server.',
    });
  });

  it('is refused when somebody whom it may call can, however far away', async () => {
    expect(await commandsRefusal(options, named('lead'), { ...RIGHTS, commands: [] })).toMatchObject({
      message: expect.stringContaining('lead may call builder, which can run commands'),
      fix: expect.stringContaining('commands: [builder]'),
    });
  });

  it('is refused when an executor works for it that has no file', async () => {
    expect(await commandsRefusal(options, named('planner'), { ...RIGHTS, commands: [] })).toMatchObject({
      message: expect.stringContaining('planner may call executor:codex, which can run commands (codex)'),
      fix: expect.stringContaining('commands: [executor:codex]'),
    });
  });

  it.each<[string, string, ClientRights | undefined]>([
    ['nobody can', 'reader', { ...RIGHTS, commands: [] }],
    ['the owner allows the one that can', 'lead', { ...RIGHTS, commands: ['builder'] }],
    ['the owner allows the executor that can', 'planner', { ...RIGHTS, commands: ['executor:codex'] }],
    ['the client may have all run', 'builder', RIGHTS],
    ['it is the owner’s own', 'builder', undefined],
  ])('is not refused when %s', async (_name, agent, rights) => {
    expect(await commandsRefusal(options, named(agent), rights)).toBeUndefined();
  });

  it('does not exist when it may not be spawned', () => {
    expect(mayBeSpawned({ ...RIGHTS, spawn: ['reader'] }, 'builder')).toBe(false);
    expect(mayBeSpawned({ ...RIGHTS, spawn: ['reader'] }, 'reader')).toBe(true);
    expect(mayBeSpawned(RIGHTS, 'builder')).toBe(true);
  });
});
