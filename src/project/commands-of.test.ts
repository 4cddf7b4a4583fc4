import { describe, expect, it } from 'vitest';
import { agent } from '../../test/support/world.ts';
import { commandsOf } from './commands-of.ts';

const settings = { permissions: [], mcp: {}, foreign: { servers: [], diagnostics: [] }, verify: undefined };
const server = { command: 'docs-server' };
const ofOthers = (more: object) => ({ foreign: { servers: [{ name: 'docs', kind: 'sound', declared: server, ...more }] } });

describe('an agent runs commands', () => {
  it.each([
    [{ tools: ['shell'] }, settings, 'its tool shell'],
    [{ tools: ['read', 'mcp:docs'] }, { ...settings, mcp: { docs: server } }, 'the MCP server docs'],
    [{ tools: ['mcp:docs/look'], mcp: { docs: server } }, settings, 'the MCP server docs'],
    [{ tools: ['mcp:docs'] }, { ...settings, ...ofOthers({}) }, 'the MCP server docs'],
    [{ executor: { name: 'pi' } }, { ...settings, permissions: [{ shell: 'deny' }] }, 'the executor pi'],
    [{ tools: [], verify: { commands: ['npm test'] } }, settings, 'what it is verified with'],
  ])('%j', (more, given, how) => {
    expect(commandsOf(agent({ name: 'one', ...more } as never), given as never)).toBe(how);
  });

  it.each([
    [{ tools: ['read', 'write', 'fetch'] }, settings],
    [{ tools: ['shell'] }, { ...settings, permissions: [{ shell: 'deny' }] }],
    [{ tools: ['shell'], permissions: { shell: 'deny' } }, settings],
    [{ tools: ['mcp:docs'] }, { ...settings, mcp: { docs: { url: 'https://docs.example/mcp' } } }],
    [{ tools: ['mcp:docs'] }, { ...settings, ...ofOthers({ shadowedBy: 'the settings' }) }],
    [{ tools: [] }, { ...settings, mcp: { docs: server } }],
  ])('or it does not: %j', (more, given) => {
    expect(commandsOf(agent({ name: 'one', ...more } as never), given as never)).toBeUndefined();
  });
});
