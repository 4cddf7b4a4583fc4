import { describe, expect, it } from 'vitest';
import { isPublicAddress, namesInside, namesLoopback, reachableAddresses } from './addresses.ts';

describe('addresses that may be reached for a stranger', () => {
  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '172.32.0.1', '100.128.0.1'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fd00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '192.88.99.1',
    '3fff::1',
    '5f00::1',
    'no address',
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
  it('refuses a name that leads to a local address', async () => {
    expect(await reachableAddresses('localhost', false)).toMatchObject({ ok: false, error: { kind: 'refused' } });
    expect(await reachableAddresses('localhost', true)).toMatchObject({ ok: true });
  });
});

describe('a host that somebody writes', () => {
  it.each(['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', '[::1]', '10.0.0.1', 'agent', 'box.local', 'x.internal'])(
    '%s means a place inside',
    (host) => expect(namesInside(host)).toBe(true),
  );
  it.each(['agents.example', '8.8.8.8', '[2606:4700:4700::1111]', 'localhost.example', 'internal.example'])(
    '%s does not',
    (host) => expect(namesInside(host)).toBe(false),
  );
  it.each(['localhost', 'a.localhost.', '127.8.9.1', '[::1]'])('%s is this machine', (host) =>
    expect(namesLoopback(host)).toBe(true),
  );
  it.each(['10.0.0.1', 'agent', '127.example.org', 'localhost.example'])('%s is not', (host) =>
    expect(namesLoopback(host)).toBe(false),
  );
});
