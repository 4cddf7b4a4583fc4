/** `assistants:` in troupe.yaml: what it may say, and where it ends up. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { assistantLimits } from '../engine/spawning/bounds.ts';
import { loadConfig } from './config.ts';
import { assistantSettings } from './lazy-assistants.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'troupe-settings-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function load(text: string) {
  await writeFile(join(root, 'troupe.yaml'), text);
  return await loadConfig({ cwd: root, env: { HOME: root } });
}

async function configOf(text: string) {
  const config = await load(text);
  if (!config.ok) throw new Error(JSON.stringify(config.error));
  return config.value.assistants;
}

describe('assistants in the settings', () => {
  it('override the limits they name, and only those', async () => {
    const config = await configOf('assistants: { active: 1, depth: 2, lifetime: 2h, memory: 128, warm: 0, restarts: 0 }\n');
    expect(config).toEqual({ active: 1, depth: 2, lifetime: 7_200_000, memory: 128, warm: 0, restarts: 0 });
    expect(assistantLimits({ assistants: assistantSettings(config) })).toEqual({
      active: 1,
      perParent: limits.assistantsPerParent,
      waiting: limits.assistantsWaiting,
      perSession: limits.assistantsPerSession,
      depth: 2,
      lifetimeMs: 7_200_000,
    });
  });

  it('need not be there', async () => {
    expect(assistantLimits({ assistants: assistantSettings(await configOf('')) })).toMatchObject({
      active: limits.assistantsActive,
      lifetimeMs: limits.assistantLifetimeMs,
    });
  });

  it.each([
    ['{ active: 0 }', 'active'],
    ['{ perParent: 1.5 }', 'perParent'],
    ['{ depth: many }', 'depth'],
    ['{ memory: 16 }', 'memory'],
    ['{ warm: 65 }', 'warm'],
    ['{ restarts: -1 }', 'restarts'],
    ['{ lifetime: soon }', 'lifetime'],
    ['{ lifetime: 0 }', 'lifetime'],
    ['{ activ: 4 }', 'activ'],
    ['4', 'assistants'],
  ])('%s is refused by name', async (value, named) => {
    const config = await load(`assistants: ${value}\n`);
    expect(config.ok ? 'accepted' : JSON.stringify(config.error)).toContain(named);
  });
});
