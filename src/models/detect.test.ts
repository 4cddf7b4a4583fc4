import { describe, expect, it } from 'vitest';
import { startModelServer } from '../../test/support/models/model-server.ts';
import { systemClock } from '../base/clock.ts';
import { defaultModels, detectDefaultModel } from './detect.ts';
import { ollamaAddress } from './provider/providers.ts';

const detect = (env: Record<string, string>) => detectDefaultModel({ env, clock: systemClock });
/** An address where nobody listens. */
const NOBODY = { OLLAMA_HOST: '127.0.0.1:1' };

describe('detectDefaultModel', () => {
  it('takes the first key it finds', async () => {
    const all = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b', GEMINI_API_KEY: 'c', ...NOBODY };
    expect(await detect(all)).toEqual({ ok: true, value: defaultModels.anthropic });
    expect(await detect({ ...all, ANTHROPIC_API_KEY: ' ' })).toEqual({ ok: true, value: defaultModels.openai });
    expect(await detect({ OPENAI_API_KEY: 'b', OPENAI_MODEL: 'gpt-x', ...NOBODY })).toEqual({ ok: true, value: 'openai/gpt-x' });
    expect(await detect({ GEMINI_API_KEY: 'c', ...NOBODY })).toEqual({ ok: true, value: defaultModels.google });
  });

  it('asks another server, or Ollama, what it has', async () => {
    const lists = { '/v1/models': { data: [{ id: 'local-7b' }] }, '/api/tags': { models: [{ name: 'qwen3:8b' }] } };
    const server = await startModelServer(() => ({ text: '' }), { lists });
    const base = `${server.origin}/v1`;
    expect(await detect({ OPENAI_BASE_URL: base, OPENAI_API_KEY: 'x', ...NOBODY })).toEqual({
      ok: true,
      value: 'openai/local-7b',
    });
    expect(await detect({ OPENAI_BASE_URL: base, OPENAI_MODEL: 'other', ...NOBODY })).toEqual({
      ok: true,
      value: 'openai/other',
    });
    expect(await detect({ OLLAMA_HOST: server.origin })).toEqual({ ok: true, value: 'ollama/qwen3:8b' });
    await server.close();
    expect(await detect({ OPENAI_BASE_URL: base, ...NOBODY })).toMatchObject({
      ok: false,
      error: expect.stringContaining('OPENAI_MODEL'),
    });
  });

  it('names the ways when there is nothing', async () => {
    const found = await detect(NOBODY);
    expect(found.ok).toBe(false);
    for (const way of ['ANTHROPIC_API_KEY', 'OPENAI_BASE_URL', 'Ollama', 'scripted:'])
      expect(found).toMatchObject({ error: expect.stringContaining(way) });
  });

  it('understands every form of OLLAMA_HOST', () => {
    const address = (host: string): string => ollamaAddress({ OLLAMA_HOST: host });
    expect(ollamaAddress({})).toBe('http://127.0.0.1:11434');
    expect(address('0.0.0.0')).toBe('http://127.0.0.1:11434');
    expect(address('box:1234')).toBe('http://box:1234');
    expect(address('https://ollama.example')).toBe('https://ollama.example');
    expect(address('::not an address::')).toBe('http://127.0.0.1:11434');
  });
});
