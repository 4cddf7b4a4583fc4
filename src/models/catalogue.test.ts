import { describe, expect, it } from 'vitest';
import { answerIn, modelRequest, openModel, serverEnv, TEST_KEY } from '../../test/support/models/client.ts';
import { startModelServer } from '../../test/support/models/model-server.ts';
import { systemClock } from '../base/clock.ts';
import { createModelCatalogue } from './catalogue.ts';

const empty = createModelCatalogue({ env: {}, clock: systemClock, folder: '.' });

describe('createModelCatalogue', () => {
  it('names the variable when a key is missing', async () => {
    for (const [name, variable] of [
      ['anthropic/m', 'ANTHROPIC_API_KEY'],
      ['openai/m', 'OPENAI_API_KEY'],
      ['google/m', 'GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY'],
    ] as const) {
      expect(await empty.open(name)).toMatchObject({
        ok: false,
        error: { kind: 'auth', message: expect.stringContaining(variable) },
      });
    }
  });

  it.each([
    ['a line break', 'sk-first-half-1\nline2abcdef'],
    ['a control character', 'sk-first\u0007half-1'],
    ['a character that is not plain ASCII', 'sk-schlüssel-1'],
    ['a character that is not plain ASCII', 'sk-“quoted”-1'],
  ])('says that a key has %s, before a request and without the key', async (flaw, key) => {
    const env = { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: key, OPENAI_BASE_URL: 'http://127.0.0.1:1', MINE_KEY: key };
    const providers = { mine: { kind: 'openai-compatible' as const, baseURL: 'http://127.0.0.1:1', apiKeyEnv: 'MINE_KEY' } };
    const catalogue = createModelCatalogue({ env, clock: systemClock, folder: '.', config: { providers } });
    for (const [name, variable] of [
      ['anthropic/m', 'ANTHROPIC_API_KEY'],
      ['openai/m', 'OPENAI_API_KEY'],
      ['mine/m', 'MINE_KEY'],
    ] as const)
      expect(await catalogue.open(name)).toEqual({
        ok: false,
        error: { kind: 'auth', message: `The key in ${variable} has ${flaw}; a key is one line of plain characters.` },
      });
  });

  it('explains names that it does not know', async () => {
    for (const name of ['nobody/m', 'gpt', '/m', 'openai/', '']) {
      expect(await empty.open(name)).toMatchObject({
        ok: false,
        error: { kind: 'invalid_request', message: expect.stringContaining('anthropic/…') },
      });
    }
  });

  it('opens a model once, and tries again what failed', async () => {
    const env: Record<string, string> = { OLLAMA_HOST: '127.0.0.1:1' };
    const catalogue = createModelCatalogue({ env, clock: systemClock, folder: '.' });
    expect(await catalogue.open('ollama/a/b:c')).toBe(await catalogue.open('ollama/a/b:c'));
    expect(await catalogue.open('openai/m')).toMatchObject({ ok: false });
    env['OPENAI_API_KEY'] = 'sk-now';
    expect(await catalogue.open('openai/m')).toMatchObject({ ok: true });
  });

  it('reaches providers of the config, with their key and headers, and Ollama', async () => {
    const server = await startModelServer((request) => ({ text: request.model }));
    const providers = {
      mine: {
        kind: 'openai-compatible' as const,
        baseURL: `${server.origin}/v1`,
        apiKeyEnv: 'MINE_KEY',
        headers: { 'x-team': 'blue' },
      },
      claude: { kind: 'anthropic' as const, baseURL: `${server.origin}/v1` },
    };
    const env = {
      MINE_KEY: TEST_KEY,
      OPENAI_API_KEY: 'sk-not-for-others',
      ANTHROPIC_API_KEY: 'sk-not-for-others',
      OLLAMA_HOST: server.origin,
    };
    const catalogue = createModelCatalogue({ env, clock: systemClock, folder: '.', config: { providers } });
    for (const name of ['mine/org/model-1', 'claude/c-1', 'ollama/qwen3:8b']) {
      const model = await openModel(catalogue, name);
      expect(answerIn(await model.ask(modelRequest())).served).toBe(name);
    }
    expect(server.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${TEST_KEY}`, 'x-team': 'blue' });
    expect(JSON.stringify(server.requests.map((request) => request.headers))).not.toContain('sk-not-for-others');
    expect(
      await createModelCatalogue({ env: {}, clock: systemClock, folder: '.', config: { providers } }).open('mine/m'),
    ).toMatchObject({
      ok: false,
      error: { kind: 'auth', message: expect.stringContaining('MINE_KEY') },
    });
    await server.close();
  });

  it('tells accounts apart without showing their keys', async () => {
    const server = await startModelServer(() => ({ text: '' }));
    const env = serverEnv(server);
    const accounts: string[] = [];
    for (const key of ['sk-one-one-one', 'sk-two-two-two']) {
      const catalogue = createModelCatalogue({ env: { ...env, OPENAI_API_KEY: key }, clock: systemClock, folder: '.' });
      accounts.push((await openModel(catalogue, 'openai/a')).account, (await openModel(catalogue, 'openai/b')).account);
    }
    expect(accounts[0]).toBe(accounts[1]);
    expect(accounts[2]).not.toBe(accounts[0]);
    expect(accounts.join()).not.toContain('sk-');
    await server.close();
  });
});
