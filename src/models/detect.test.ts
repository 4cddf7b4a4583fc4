import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startModelServer } from '../../test/support/models/model-server.ts';
import { systemClock } from '../base/clock.ts';
import { defaultModels, detectDefaultModel } from './detect.ts';
import { ollamaAddress } from './provider/providers.ts';

const detect = async (env: Record<string, string>) => {
  const found = await detectDefaultModel({ env, clock: systemClock });
  return found.ok ? { ok: true, value: found.value.name } : found;
};
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
      error: 'OPENAI_BASE_URL is set, but nobody answers there.\nStart the server, or correct the address.',
    });
  });

  it.each([
    [401, 'refuses the key (HTTP 401).\nSet the right OPENAI_API_KEY.'],
    [302, 'sends requests on to another address (HTTP 302).\nName the address of the server itself'],
    [404, 'answers with HTTP 404 when it is asked for its models.\nLook at the address'],
    [200, 'answers with something that is no list of models.\nLook at the address'],
  ])('says what a server that answers with %i is asked to be', async (status, text) => {
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'text/html', location: 'https://login.example/', connection: 'close' });
      response.end('<html><title>Sign in</title></html>');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const found = await detect({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: 'x', ...NOBODY });
    server.close();
    expect(found).toMatchObject({
      ok: false,
      error: expect.stringContaining(`the server there ${text}`),
    });
  });

  it('says what made it the one', async () => {
    const because = async (env: Record<string, string>) => {
      const found = await detectDefaultModel({ env: { ...NOBODY, ...env }, clock: systemClock, offline: true });
      return found.ok ? found.value.because : 'nothing';
    };
    expect(await because({ GEMINI_API_KEY: 'c' })).toBe('GEMINI_API_KEY is set');
    expect(await because({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_MODEL: 'x' })).toBe(
      'OPENAI_BASE_URL and OPENAI_MODEL are set',
    );
    expect(await because({})).toBe('nothing');
  });

  it('asks nobody when it is told to', async () => {
    const server = await startModelServer(() => ({ text: '' }), { lists: { '/api/tags': { models: [{ name: 'qwen3:8b' }] } } });
    const options = { env: { OLLAMA_HOST: server.origin }, clock: systemClock };
    expect(await detectDefaultModel(options)).toMatchObject({
      value: { name: 'ollama/qwen3:8b', because: `Ollama at ${server.origin} has it` },
    });
    const before = server.connections();
    expect(await detectDefaultModel({ ...options, offline: true })).toMatchObject({ ok: false });
    expect(server.connections()).toBe(before);
    await server.close();
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
