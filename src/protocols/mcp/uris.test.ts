import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentAddress, artifactAddress, parseAddress, runAddress } from './uris.ts';

describe('addresses of MCP resources', () => {
  it.each([
    ['troupe://agents/code%20reviewer', { kind: 'agent', name: 'code reviewer' }],
    ['troupe://runs/run_1', { kind: 'run', run: 'run_1' }],
    ['troupe://runs/run_1/log', { kind: 'log', run: 'run_1' }],
    ['troupe://runs/run_1/artifacts', { kind: 'artifacts', run: 'run_1' }],
    ['troupe://runs/run_1/artifacts/src/a%20b.ts', { kind: 'artifact', run: 'run_1', path: 'src/a b.ts' }],
    ['troupe://runs/run_1/artifacts/../../secret', { kind: 'artifact', run: 'run_1', path: '../../secret' }],
    ['troupe://runs', undefined],
    ['troupe://runs/', undefined],
    ['troupe://runs/run_1/', undefined],
    ['troupe://runs/run_1/else', undefined],
    ['troupe://agents/a/b', undefined],
    ['troupe://agents/%zz', undefined],
    ['https://agents/a', undefined],
    ['', undefined],
  ])('%s', (uri, address) => {
    expect(parseAddress(uri)).toEqual(address);
  });

  it('lead back to what they were made of', () => {
    const word = fc.string({ minLength: 1, maxLength: 50, unit: 'grapheme' });
    fc.assert(
      fc.property(word, fc.array(word, { minLength: 1, maxLength: 5 }), (name, needs) => {
        const path =
          needs
            .join('/')
            .replaceAll(/\/+/g, '/')
            .replaceAll(/^\/|\/$/g, '') || 'a';
        expect(parseAddress(agentAddress(name))).toEqual({ kind: 'agent', name });
        expect(parseAddress(runAddress(name, 'log'))).toEqual({ kind: 'log', run: name });
        expect(parseAddress(artifactAddress(name, path))).toEqual({ kind: 'artifact', run: name, path });
      }),
    );
  });

  it('are read from any text without a throw', () => {
    fc.assert(
      fc.property(fc.string(), (text) => parseAddress(`troupe://runs/${text}`) !== null && parseAddress(text) === undefined),
    );
  });
});
