/** What all requests of a server share: nothing but what can be read again from the ledger, and a count. */
import type { StreamResponse } from '@a2a-js/sdk';
import type { User } from '@a2a-js/sdk/server';
import { limits } from '../../base/limits.ts';
import { oneAtATime } from '../../base/one-at-a-time.ts';
import type { McpCaller } from '../mcp/needs.ts';
import { tooManyOf } from './errors.ts';
import { createTaskFinder, type TaskFinder } from './found-tasks.ts';
import type { A2aNeeds, Scope } from './needs.ts';
import { createPushDelivery, type PushDelivery } from './push-delivery.ts';
import { type CardSigner, createCardSigner } from './sign-card.ts';
import { createTaskFolds, type TaskFolds } from './task-folds.ts';

/** Who is at the other end of a request, and whether they still are. */
export interface A2aPeer extends User {
  readonly caller: McpCaller;
  readonly gone: AbortSignal;
  /** Told when the request was understood so far that something is done for it. */
  reached?(): void;
  /** Resolves when there is room for another event, where the transport does not wait by itself. */
  ready?(): Promise<void>;
}

export const peerOf = (caller: McpCaller, gone: AbortSignal): A2aPeer => ({
  ...{ caller, gone, isAuthenticated: true, userName: caller.name },
});

export interface PeerRoom {
  readonly needs: A2aNeeds;
  readonly tasks: TaskFinder;
  readonly folds: TaskFolds;
  readonly streams: Streams;
  readonly push: PushDelivery;
  readonly signer: CardSigner;
  /** Work for one caller happens one after the other: what has begun counts before the next is looked at. */
  readonly inTurn: ReturnType<typeof oneAtATime>;
}

export function createRoom(needs: A2aNeeds): PeerRoom {
  const tasks = createTaskFinder(needs);
  const push = createPushDelivery(needs, tasks);
  const signer = createCardSigner(needs);
  return {
    needs,
    tasks,
    push,
    signer,
    folds: createTaskFolds(needs),
    streams: countStreams(streamsOf(needs)),
    inTurn: oneAtATime(),
  };
}

type Stream = AsyncGenerator<StreamResponse, void, undefined>;

export interface Streams {
  counted(scope: Scope, stream: Stream): Stream;
}

/** How many streams one caller may have open. */
export const streamsOf = ({ settings }: Pick<A2aNeeds, 'settings'>): number =>
  settings.streamsPerCaller ?? limits.a2aStreamsPerCaller;

/** So many streams for each caller: what a stream costs is a reader of the ledger. */
export function countStreams(most: number): Streams {
  const open = new Map<string, number>();
  return {
    async *counted({ caller }, stream) {
      const count = open.get(caller.name) ?? 0;
      if (count >= most) throw tooManyOf('You follow too many tasks', most, 'a2aStreamsPerCaller', 'a2a.streamsPerCaller');
      open.set(caller.name, count + 1);
      try {
        yield* stream;
      } finally {
        const left = (open.get(caller.name) ?? 1) - 1;
        if (left > 0) open.set(caller.name, left);
        else open.delete(caller.name);
      }
    },
  };
}
