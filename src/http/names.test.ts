import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedNames, isAllowedHost, isAllowedOrigin, isLoopback } from './names.ts';

const local = allowedNames('127.0.0.1');
const everywhere = allowedNames('0.0.0.0', ['troupe.example', '2001:db8::1']);

describe('the host of a request', () => {
  it.each([
    ['localhost', true, true],
    ['LOCALHOST:4747', true, true],
    ['127.0.0.1:4747', true, true],
    ['[::1]:4747', true, true],
    ['troupe.example', false, true],
    ['TROUPE.example:443', false, true],
    ['192.168.1.7:4747', false, true],
    ['[2001:db8::1]', false, true],
    ['[fe80::1]:4747', false, true],
    ['evil.example', false, false],
    ['localhost.evil.example', false, false],
    ['127.0.0.1.evil.example', false, false],
    ['evil.example#localhost', false, false],
    ['evil.example/localhost', false, false],
    ['localhost@evil.example', false, false],
    ['localhost, evil.example', false, false],
    ['', false, false],
    [undefined, false, false],
  ])('%s: at home %s, with more names %s', (host, atHome, withMore) => {
    expect(isAllowedHost(host, local)).toBe(atHome);
    expect(isAllowedHost(host, everywhere)).toBe(withMore);
  });

  it('is never another name, however it is written', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const host = `evil.example${text}`;
        expect(isAllowedHost(host, local)).toBe(false);
        expect(isAllowedHost(`${text}.evil.example`, everywhere)).toBe(false);
      }),
    );
  });
});

describe('the origin of a request', () => {
  it.each([
    [undefined, true],
    ['http://localhost:3000', true],
    ['https://127.0.0.1', true],
    ['http://[::1]:9', true],
    ['null', false],
    ['', false],
    ['https://evil.example', false],
    ['http://localhost.evil.example', false],
    ['http://localhost@evil.example', false],
    ['http://evil.example/localhost', false],
    ['chrome-extension://localhost', false],
    ['file://', false],
  ])('%s: %s', (origin, allowed) => {
    expect(isAllowedOrigin(origin, local)).toBe(allowed);
  });
});

describe('names that mean this machine only', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.3.2.1', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.7', false],
    ['127.evil.example', false],
    ['example.org', false],
  ])('%s: %s', (host, loopback) => {
    expect(isLoopback(host)).toBe(loopback);
  });
});
