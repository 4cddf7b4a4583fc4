/** Where cards say that gRPC is: peers take it as encrypted where the card came so. */
import { expect, it } from 'vitest';
import { bareCard } from './cards.ts';
import type { A2aNeeds } from './needs.ts';

const LOCAL = 'http://127.0.0.1:4747';
const PROXY = 'https://agents.example';

it.each([
  ['its own port, where nothing encrypts', LOCAL, 4748, {}, '127.0.0.1:4748'],
  ['nowhere, where nobody listens', LOCAL, undefined, { grpcUrl: PROXY }, undefined],
  ['its own port, behind a proxy that does not encrypt', LOCAL, 4748, { url: 'http://box.local' }, 'box.local:4748'],
  ['nowhere, behind a proxy with TLS that is not known to lead there', LOCAL, 4748, { url: PROXY }, undefined],
  ['where the proxy leads there', LOCAL, 4748, { url: PROXY, grpcUrl: 'https://grpc.example' }, 'grpc.example:443'],
  ['at the port of the proxy', LOCAL, 4748, { url: PROXY, grpcUrl: 'https://grpc.example:8443' }, 'grpc.example:8443'],
  ['at the other port of a proxy in the clear', LOCAL, 4748, { grpcUrl: 'http://box.local' }, 'box.local:80'],
])('%s', (_where, origin, grpcPort, settings, address) => {
  const needs = { settings, version: '0.0.0', withToken: true } as unknown as A2aNeeds;
  const { supportedInterfaces } = bareCard(needs, { kind: 'house' }, { origin, grpcPort });
  const grpc = supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === 'GRPC').map(({ url }) => url);
  expect(grpc).toEqual(address === undefined ? [] : [address, address]);
  // What is not gRPC does not depend on it.
  expect(supportedInterfaces.length - grpc.length).toBe(4);
});
