/** What reading a card needs and what comes of it. */
import type { AgentCard } from '@a2a-js/sdk';
import type { Clock } from '../../base/clock.ts';
import type { FindAddresses } from '../../network/follow.ts';

export type Binding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
export type SpokenVersion = '1.0' | '0.3';

/** A card as its owner's file names it. */
export interface CardSource {
  readonly address: URL;
  /** Already filled from the environment. They go to the origin of the address and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  /** The hash that the card must have: sha256 in hex. */
  readonly pin?: string | undefined;
  /** Somebody is about to look at the card, and at where it leads, before anything goes there: as good as a pin. */
  readonly lookedAt?: boolean | undefined;
  /** The headers may go in the clear to another machine. */
  readonly plain?: boolean | undefined;
  /** Speak in this way only. */
  readonly binding?: Binding | undefined;
  /** Of the interfaces that can be used the one at this address, if there is one. */
  readonly at?: string | undefined;
  /** The public key whose signature the card must bear: PEM, or a JWK as JSON. */
  readonly key?: string | undefined;
  /** Extensions that the card must name. */
  readonly extensions?: readonly string[] | undefined;
}

/** A card as it came, and how long it is good for. */
export interface KeptCard {
  readonly text: string;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** When it was last said to be right. */
  readonly seenAt: number;
  /** Until then nobody is asked again. */
  readonly freshUntil: number;
  /** Whether it may stand in while the server is down. */
  readonly standsIn: boolean;
}

/** By the address of the card. Whatever cannot be kept or read again is only asked for again. */
export interface KeptCards {
  get(address: string): Promise<KeptCard | undefined>;
  put(address: string, card: KeptCard): Promise<void>;
  drop(address: string): Promise<void>;
}

export interface CardPorts {
  readonly clock: Clock;
  readonly kept: KeptCards;
  /** Also names that lead into a network of one's own may be asked. */
  readonly allowPrivate?: boolean | undefined;
  /** `reachableAddresses` unless given. */
  readonly addresses?: FindAddresses | undefined;
  /** Ask the server also when a kept card is still good. */
  readonly ask?: 'always' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Where and how the agent is talked to. */
export interface CardInterface {
  readonly url: string;
  readonly binding: Binding;
  readonly version: SpokenVersion;
  readonly tenant: string;
  /** Whether connections to it may lead to addresses that are not public. They are refused otherwise, whatever a name says. */
  readonly inside: boolean;
  /** Whether it is spoken to in the clear. */
  readonly plain: boolean;
}

export interface ReadCard {
  readonly state: 'read';
  readonly card: AgentCard;
  /** Of the whole card but its signatures: what a pin is compared with. */
  readonly hash: string;
  readonly interface: CardInterface;
  /** The server is down: this is the card as it was then. */
  readonly standIn?: { readonly seenAt: number; readonly reason: string } | undefined;
}

export type CardOutcome =
  | ReadCard
  | { readonly state: 'refused'; readonly reason: string; readonly fix: string }
  | { readonly state: 'unreachable'; readonly reason: string };

export type RefusedCard = Extract<CardOutcome, { readonly state: 'refused' }>;

export const refusedCard = (reason: string, fix: string): RefusedCard => ({ state: 'refused', reason, fix });
