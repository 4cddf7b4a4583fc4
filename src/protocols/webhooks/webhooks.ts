/**
 * Webhooks: addresses of the settings that are told what somebody who looks elsewhere has to know.
 *
 * - W1 What was to be told is told, also after kill -9: how far each hook was told of a session is in the ledger.
 * - W2 At least once; `webhook-id` is the same for the same thing.
 * - W3 Signed: whoever has the secret knows that it comes from here, now, and as it was sent.
 * - W4 A little later: what is answered at once is not told, and what comes together is told together.
 * - W5 Nobody inside is reached unless the settings say so, and a link opens a page: it does nothing by itself.
 */
import { createHmac } from 'node:crypto';
import { type Clock, sleep } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Engine } from '../../engine/port.ts';
import { answerPath, sessionPath } from '../../front/links.ts';
import { type Notice, type NoticeKind, noticesAfter } from '../../front/notices.ts';
import { asOnlyOne } from '../../ledger/only-one.ts';
import { nothingLeft, readEvents } from '../../ledger/pages.ts';
import type { Fence, Ledger, RunRow } from '../../ledger/port.ts';
import { tellOnce, tellUntilTold } from '../../network/tell.ts';

export interface Webhook {
  readonly name: string;
  readonly url: string;
  /** The bytes that it is signed with. */
  readonly secret: Uint8Array;
  /** All without it. */
  readonly events?: readonly NoticeKind[] | undefined;
  readonly private?: boolean | undefined;
  /** The text alone, for places that show what they are sent. */
  readonly as?: 'json' | 'text' | undefined;
  /** Further headers, in which {title}, {text}, {link}, {agent} and {kind} stand for what it is about. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface WebhookNeeds {
  readonly ledger: Ledger;
  readonly engine: Pick<Engine, 'waits'>;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** Where people reach the server. */
  origin(): string;
  onError(error: Error): void;
}

/** Until the server stops. */
export async function tellWebhooks(needs: WebhookNeeds, hooks: readonly Webhook[]): Promise<void> {
  await Promise.all(
    hooks.map((hook) =>
      asOnlyOne(
        needs,
        ['webhook', hook.name],
        async () => needs.stopping.aborted,
        (fence) => tellOne(needs, hook, fence),
      ).catch((error: Error) => {
        if (!needs.stopping.aborted) needs.onError(error);
      }),
    ),
  );
}

const configOf = ({ name }: Webhook): string => `webhook:${name}`;

async function tellOne(needs: WebhookNeeds, hook: Webhook, fence: Fence): Promise<void> {
  const { ledger, clock, stopping } = needs;
  const since = await begunAt(needs, hook, fence);
  let news = Promise.withResolvers<void>();
  const stop = ledger.onNews(undefined, () => news.resolve());
  stopping.addEventListener('abort', () => news.resolve(), { once: true });
  /** What each session was told, and how it stood then: one that has ended and was told is not looked at again. */
  const known = new Map<SessionId, number>();
  try {
    while (!stopping.aborted) {
      news = Promise.withResolvers();
      for (const session of await sessionsSince(needs, since)) {
        if (stopping.aborted) return;
        try {
          const after = known.get(session) ?? (await toldOf(needs, hook, session));
          known.set(session, await tellSession(needs, hook, session, after, since));
        } catch (error) {
          nothingLeft(error);
        }
      }
      await news.promise;
      await sleep(clock, limits.webhookDebounceMs, stopping);
    }
  } finally {
    stop();
  }
}

/** When the hook was first heard of: what was before is not told. In a session of its own, which no run works in. */
async function begunAt({ ledger, clock }: WebhookNeeds, { name }: Webhook, fence: Fence): Promise<number> {
  const { run } = fence;
  const session = run.replace(/^run_/, 'ses_') as SessionId;
  const [first] = await ledger.read({ session, limit: 1 });
  if (first !== undefined) return Date.parse(first.timestamp);
  const at = clock.now();
  const payload = { title: `webhook ${name}`, workspace: '' };
  await ledger.append({ session, fence, events: [{ type: 'session.started', run, actor: 'system', cause: null, payload, at }] });
  // Collecting old sessions must never take it away.
  await ledger.pin(session, true);
  return at;
}

const isRecent = ({ endedAt }: RunRow, since: number): boolean => endedAt === null || endedAt >= since;

async function sessionsSince({ ledger }: WebhookNeeds, since: number): Promise<ReadonlySet<SessionId>> {
  const rows = await ledger.runs({ roots: true, limit: limits.webhookRuns });
  return new Set(rows.filter((row) => isRecent(row, since)).map(({ session }) => session));
}

async function toldOf({ ledger }: WebhookNeeds, hook: Webhook, session: SessionId): Promise<number> {
  let told = 0;
  for await (const event of readEvents(ledger, { session, types: ['push.told'] }))
    if (event.event_type === 'push.told' && event.payload.config === configOf(hook))
      told = Math.max(told, event.payload.position);
  return told;
}

/** Gives how far it was told. */
async function tellSession(
  needs: WebhookNeeds,
  hook: Webhook,
  session: SessionId,
  after: number,
  since: number,
): Promise<number> {
  const { ledger, clock } = needs;
  const { notices, position } = await noticesAfter(needs, session, after);
  const wanted = notices.filter(({ kind, at }) => (hook.events?.includes(kind) ?? true) && Date.parse(at) >= since);
  let failed: string | undefined;
  for (const notice of wanted) {
    const told = await tellUntilTold(needs, () => tellOnce(needs, messageOf(needs, hook, notice)));
    if (told.kind === 'left') return after;
    if (told.kind === 'failed') failed = told.why;
  }
  if (failed !== undefined) needs.onError(new Error(`webhook ${hook.name}: ${failed}`));
  const [last] = wanted.slice(-1);
  if (last !== undefined) {
    const payload = { config: configOf(hook), position, ...present({ failed }) };
    const [cause] = await ledger.read({ session, run: last.run, limit: 1 });
    const event = {
      type: 'push.told',
      run: last.run,
      actor: 'system',
      cause: cause?.event_id ?? null,
      payload,
      at: clock.now(),
    } as const;
    await ledger.append({ session, fence: null, events: [event] });
  }
  return position;
}

function messageOf(needs: WebhookNeeds, hook: Webhook, notice: Notice) {
  const { id, at, wait, ...data } = notice;
  const link = `${needs.origin().replace(/\/$/, '')}${wait === undefined ? sessionPath(data.session) : answerPath(wait)}`;
  const words: Readonly<Record<string, string>> = {
    title: data.title,
    text: data.text,
    link,
    agent: data.agent,
    kind: data.kind,
  };
  const isText = hook.as === 'text';
  const body = isText
    ? data.text
    : JSON.stringify({ type: `troupe.${data.kind}`, timestamp: at, data: { ...data, ...present({ wait }), link } });
  const filled = Object.entries(hook.headers ?? {}).map(
    ([name, value]) =>
      [name.toLowerCase(), headerText(value.replaceAll(/\{(\w+)\}/g, (_all, word: string) => words[word] ?? ''))] as const,
  );
  const signed = signature(hook.secret, id, Math.floor(needs.clock.now() / 1_000), body);
  const headers = {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    ...Object.fromEntries(filled),
    ...signed,
  };
  return { url: hook.url, headers, body, allowLocal: hook.private === true };
}

/** What an agent wrote must not begin a header of its own. */
const headerText = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, limits.noticeCharacters);

/** As Standard Webhooks have it. */
function signature(secret: Uint8Array, id: string, seconds: number, body: string) {
  const signed = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signed}` };
}
