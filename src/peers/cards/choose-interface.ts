/**
 * Which of the card's interfaces is used: the first that we can speak, the newer version before the older. A card is a stranger's
 * word on where to send what the owner says, with the owner's token: a token goes only to the origin that the owner named, unless
 * the owner has pinned the card and so has looked at it.
 */
import type { AgentCard, AgentInterface } from '@a2a-js/sdk';
import { fail, ok, type Result } from '../../base/result.ts';
import { counted } from '../../base/wording.ts';
import { namesInside, namesLoopback } from '../../network/addresses.ts';
import type { Binding, CardInterface, CardSource, SpokenVersion } from './port.ts';

const BINDINGS: readonly Binding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC'];
const VERSIONS: readonly SpokenVersion[] = ['1.0', '0.3'];
const SHOWN = 3;

/** Why none of them is used, and what the owner can do about it. */
export interface NoInterface {
  readonly reason: string;
  readonly fix: string;
}

export function chooseInterface(
  { supportedInterfaces }: AgentCard,
  source: CardSource,
  allowPrivate: boolean,
): Result<CardInterface, NoInterface> {
  const judged = supportedInterfaces.map((one) => judge(one, source, allowPrivate));
  const usable = judged.flatMap((one) => (one.ok ? [one.value] : []));
  const there = usable.filter(({ url }) => url === source.at);
  for (const version of VERSIONS) {
    const found = (there.length > 0 ? there : usable).find((one) => one.version === version);
    if (found !== undefined) return ok(found);
  }
  const reasons = judged.flatMap((one) => (one.ok ? [] : [one.error]));
  const [first] = reasons;
  const shown = reasons.slice(0, SHOWN).map(({ reason }) => reason);
  const more = reasons.length > SHOWN ? `; and ${counted(reasons.length - SHOWN, 'more interface')}` : '';
  return fail({ reason: `none of its interfaces can be used: ${shown.join('; ')}${more}`, fix: first?.fix ?? ASK_OWNER });
}

const ASK_OWNER = 'ask whoever runs the agent for a card with an interface of A2A 1.0 or 0.3';
const PIN = 'look at the card and pin it: troupe agents add <address> --pin shows it, and writes `pin:` with its hash';

function judge(one: AgentInterface, source: CardSource, allowPrivate: boolean): Result<CardInterface, NoInterface> {
  const shown = one.url.slice(0, 200);
  const no = (why: string, fix: string): Result<never, NoInterface> => fail({ reason: `${shown} ${why}`, fix });
  const binding = BINDINGS.find((name) => name === one.protocolBinding.toUpperCase());
  const version = versionOf(one.protocolVersion);
  if (binding === undefined) return no(`is spoken to by ${JSON.stringify(one.protocolBinding.slice(0, 50))}`, ASK_OWNER);
  if (version === undefined) return no(`has version ${JSON.stringify(one.protocolVersion.slice(0, 50))}`, ASK_OWNER);
  if (source.binding !== undefined && source.binding !== binding)
    return no(`is ${binding}, not ${source.binding}`, 'take `binding:` out of the agent file, or name one that the card has');
  const place = placeOf(one.url, binding);
  if (place === undefined) return no(`is not an address for ${binding}`, ASK_OWNER);
  const problem = placeProblem(place, source);
  if (problem !== undefined) return no(problem.reason, problem.fix);
  const inside = allowPrivate || (namesInside(place.host) && namesInside(source.address.hostname));
  return ok({ url: one.url, binding, version, tenant: one.tenant, inside, plain: isInTheClear(place, source, inside) });
}

/** Cards of 0.3 say `0.3.0`; a card without a version is of the one that has this field. */
function versionOf(said: string): SpokenVersion | undefined {
  if (said === '') return '1.0';
  return VERSIONS.find((version) => said === version || said.startsWith(`${version}.`));
}

interface Place {
  readonly host: string;
  readonly port: string;
  /** `bare`: it does not say whether anything is encrypted. */
  readonly scheme: 'http' | 'https' | 'bare';
}

/** What does not say so itself is encrypted like its card; on this machine nothing goes out that could be. */
const isInTheClear = ({ host, scheme }: Place, { address }: CardSource, inside: boolean): boolean =>
  scheme === 'http' || (scheme === 'bare' && inside && (address.protocol === 'http:' || namesLoopback(host)));

/** http and https; gRPC may also be named as `host:port`. */
function placeOf(text: string, binding: Binding): Place | undefined {
  const isBare = binding === 'GRPC' && /^[^/?#@\s]+$/.test(text);
  const url = URL.parse(isBare ? `http://${text}` : text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  // Of gRPC without a port it is that of https.
  const port = isBare ? /:(\d+)$/.exec(text)?.[1] : url.port;
  return {
    host: url.hostname,
    port: port || (url.protocol === 'http:' && !isBare ? '80' : '443'),
    scheme: isBare ? 'bare' : url.protocol === 'http:' ? 'http' : 'https',
  };
}

function placeProblem(place: Place, source: CardSource): NoInterface | undefined {
  const { host, scheme } = place;
  const { address, headers, pin, lookedAt } = source;
  const isInside = namesInside(host);
  if (isInside && !namesInside(address.hostname))
    return { reason: 'is not a public address, though the card came from one', fix: ASK_OWNER };
  if (address.protocol === 'https:' && scheme === 'http' && !namesLoopback(host))
    return { reason: 'is plain http, though the card came over https', fix: ASK_OWNER };
  if (pin !== undefined || lookedAt === true) return undefined;
  const isHere = isSameHost(host, address.hostname);
  if (isInside && !isHere) return { reason: `is inside, on another host than ${address.hostname}`, fix: PIN };
  if (!saysWho(headers) || isSameOrigin(place, source)) return undefined;
  const what = isHere ? `is not at ${address.origin}` : `is on another host than ${address.hostname}`;
  return { reason: `${what}: the token for that one is not sent there`, fix: PIN };
}

/** Which extensions a file demands is no secret. */
export const saysWho = (headers: CardSource['headers']): boolean =>
  Object.keys(headers).some((name) => name !== 'a2a-extensions' && name !== 'x-a2a-extensions');

/**
 * On another port another program listens, and on one machine perhaps another user's. gRPC cannot share one: whoever asks for it
 * in the file means the port that the card names.
 */
function isSameOrigin({ host, port, scheme }: Place, { address, binding }: CardSource): boolean {
  const there = address.port || (address.protocol === 'http:' ? '80' : '443');
  const isSameScheme = scheme === 'bare' || `${scheme}:` === address.protocol;
  return host === address.hostname && isSameScheme && (port === there || binding === 'GRPC');
}

function isSameHost(one: string, other: string): boolean {
  return one === other || (namesLoopback(one) && namesLoopback(other));
}
