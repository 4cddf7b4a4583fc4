/** The SDK's client for the interface that was chosen: any binding, either version. Each is loaded when it is needed. */
import type { AgentCard } from '@a2a-js/sdk';
import type { Client, TransportFactory } from '@a2a-js/sdk/client';
import { reachableAddresses } from '../../network/addresses.ts';
import type { FindAddresses } from '../../network/follow.ts';
import type { CardInterface } from '../cards/port.ts';
import type { PeerFailure } from '../port.ts';
import { guardedFetch } from './guarded-fetch.ts';

export async function connect(card: AgentCard, chosen: CardInterface, find: FindAddresses = reachableAddresses): Promise<Client> {
  const { ClientFactory } = await import('@a2a-js/sdk/client');
  const { binding, version, tenant } = chosen;
  const url = binding === 'GRPC' ? await grpcTarget(chosen, find) : chosen.url;
  const only = { url, protocolBinding: binding, protocolVersion: version, tenant };
  const factory = new ClientFactory({ transports: [await transportFor(chosen)] });
  return await factory.createFromAgentCard({ ...card, supportedInterfaces: [only] });
}

async function transportFor({ binding, inside, plain }: CardInterface): Promise<TransportFactory> {
  const legacyCompat = { enabled: true };
  if (binding === 'GRPC') {
    const { GrpcTransportFactory } = await import('@a2a-js/sdk/client/grpc');
    const { credentials } = await import('@grpc/grpc-js');
    return new GrpcTransportFactory({
      legacyCompat,
      grpcChannelCredentials: plain ? credentials.createInsecure() : credentials.createSsl(),
    });
  }
  const { JsonRpcTransportFactory, RestTransportFactory } = await import('@a2a-js/sdk/client');
  const options = { fetchImpl: guardedFetch(inside), legacyCompat };
  return binding === 'JSONRPC' ? new JsonRpcTransportFactory(options) : new RestTransportFactory(options);
}

/** gRPC has no addresses of this kind, and takes what stands before the host for the way to look it up: that is ours. */
async function grpcTarget({ url, inside }: CardInterface, find: FindAddresses): Promise<string> {
  const { guardedTarget } = await import('./guarded-names.ts');
  return guardedTarget(bareTarget(url), inside, find);
}

const bareTarget = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/+$/, '');

/** Over gRPC only failing calls show that a name leads nowhere good, so it is looked at before; the other bindings say it. */
export async function wayProblem({ binding, url, inside }: CardInterface): Promise<PeerFailure | undefined> {
  if (binding !== 'GRPC') return undefined;
  const host = URL.parse(`http://${bareTarget(url)}`)?.hostname ?? '';
  const found = await reachableAddresses(host, inside);
  if (found.ok) return undefined;
  return { kind: found.error.kind === 'refused' ? 'refused' : 'network', message: found.error.message };
}
