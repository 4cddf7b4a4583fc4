/** The SDK's client for the interface that was chosen: any binding, either version. Each is loaded when it is needed. */
import type { AgentCard } from '@a2a-js/sdk';
import type { Client, TransportFactory } from '@a2a-js/sdk/client';
import type { CardInterface } from '../cards/port.ts';
import { guardedFetch } from './guarded-fetch.ts';

export async function connect(card: AgentCard, chosen: CardInterface): Promise<Client> {
  const { ClientFactory } = await import('@a2a-js/sdk/client');
  const { url, binding, version, tenant } = chosen;
  const only = { url, protocolBinding: binding, protocolVersion: version, tenant };
  const factory = new ClientFactory({ transports: [await transportFor(chosen)] });
  return await factory.createFromAgentCard({ ...card, supportedInterfaces: [only] });
}

async function transportFor({ binding, url, inside }: CardInterface): Promise<TransportFactory> {
  const legacyCompat = { enabled: true };
  if (binding === 'GRPC') {
    const { GrpcTransportFactory } = await import('@a2a-js/sdk/client/grpc');
    const { credentials } = await import('@grpc/grpc-js');
    // Only what is inside, or says so itself, is spoken to in the clear.
    const plain = url.startsWith('http:') || (inside && !url.startsWith('https:'));
    return new GrpcTransportFactory({
      legacyCompat,
      grpcChannelCredentials: plain ? credentials.createInsecure() : credentials.createSsl(),
    });
  }
  const { JsonRpcTransportFactory, RestTransportFactory } = await import('@a2a-js/sdk/client');
  const options = { fetchImpl: guardedFetch(inside), legacyCompat };
  return binding === 'JSONRPC' ? new JsonRpcTransportFactory(options) : new RestTransportFactory(options);
}
