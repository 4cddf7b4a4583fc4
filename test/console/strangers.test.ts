/**
 * What strangers write is shown and does nothing: each text of the table as an answer, a name, a file name, a command, a
 * difference, a tool's output, a prompt, a claim, a message and in a report of what does not fit together, in the real page.
 * Nothing runs, nothing is loaded from elsewhere, no element that could is there, and no text takes the place of ours.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createIds, eventId, type RunId, type SessionId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/random.ts';
import { userText } from '../../src/events/messages.ts';
import type { Append, Ledger } from '../../src/ledger/port.ts';
import { type Looking, startLooking } from '../support/console/browser.ts';
import { payloads } from '../support/console/payloads.ts';
import { hitsIn, NOTHING_HIT } from '../support/console/strangers.ts';
import { sendJson } from '../support/http/api-server.ts';
import { serveWorld } from '../support/http/served-project.ts';
import { agent, says } from '../support/world.ts';

const ids = createIds(systemClock, systemRandom);

let looking: Looking;
beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking[Symbol.asyncDispose]());

interface Writing {
  readonly session: SessionId;
  readonly run: RunId;
  append(events: readonly object[]): Promise<void>;
  /** With this answer. */
  end(body: string): Promise<void>;
}

/** A run of strangers in a session of theirs: whatever they are called and say. */
async function begin(ledger: Ledger, text: string, session = ids.session()): Promise<Writing> {
  const run = ids.run();
  const lease = await ledger.acquire(session, run);
  if (lease.kind !== 'acquired') throw new Error(lease.kind);
  const first = (await ledger.read({ session, newest: true, limit: 1 }))[0];
  const append = async (events: readonly object[], cause = eventId(session, (first?.position ?? 0) + 1)): Promise<void> => {
    const common = { run, actor: 'system', at: systemClock.now() };
    const made = events.map((event, index) => ({
      ...common,
      cause: index === 0 && cause === undefined ? null : cause,
      ...event,
    }));
    const outcome = await ledger.append({ session, fence: lease.fence, events: made as unknown as Append['events'] });
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
  };
  const started = { agent: text, input: userText(text), origin: { kind: 'person' }, depth: 0 };
  await append([{ type: 'run.started', payload: started, cause: first === undefined ? null : first.event_id }]);
  const end = async (body: string): Promise<void> => {
    await append([ended(body)]);
    await ledger.release(lease.fence);
  };
  return { session, run, append, end };
}

const ended = (body: string) => ({
  type: 'run.ended',
  payload: {
    status: 'completed',
    report: { format: 'markdown', body },
    finalAgent: body,
    verification: { state: 'unverified', reasons: [body] },
  },
});

describe('words of strangers', () => {
  it('do nothing, wherever they are shown', async () => {
    expect(payloads.length).toBeGreaterThanOrEqual(60);
    await using world = await serveWorld({
      brain: () => says('x'),
      agents: [agent({ name: 'a', tools: [], permissions: {} })],
      pages: looking.pages,
    });
    const { ledger } = world;
    const answers = await begin(ledger, 'begin');
    await answers.end('begun');
    for (const text of payloads) await (await begin(ledger, text, answers.session)).end(text);
    const asking = await begin(ledger, payloads[0] ?? '');
    await asking.append(
      payloads.flatMap((text, index) => [
        {
          type: 'file.diff',
          payload: { path: text, before: null, after: null, addedLines: 1, removedLines: 0, diff: `+${text}` },
        },
        { type: 'cli.stdout', payload: { bytes: 1, head: text } },
        {
          type: 'approval.asked',
          payload: {
            wait: `w/${index}`,
            tool: text,
            input: { command: text },
            why: text,
            preview: `@@ -0,0 +1 @@\n+${text}`,
            rule: text,
          },
        },
      ]),
    );
    await asking.append([
      {
        type: 'evidence.checked',
        payload: {
          claims: payloads.map((text) => ({ claim: { kind: 'command', command: text }, backed: false, why: text })),
          verified: false,
          demanded: payloads.map((text) => ({ command: text, passed: false, why: text })),
        },
      },
      {
        type: 'task.merged',
        payload: {
          tasks: payloads.slice(0, 2),
          files: 0,
          conflicts: payloads.map((text) => ({
            ...{ path: text, tasks: [text, `${text} too`], why: text },
            hunks: [{ line: 1, base: text, ours: text, theirs: text }],
          })),
        },
      },
    ]);
    for (const text of payloads) {
      const said = await world.ask(`/api/v1/runs/${asking.run}/messages`, sendJson({ text }));
      expect(said.status).toBe(200);
    }
    await using opened = await looking.open(world, '/inbox');
    const { page, wrong, elsewhere } = opened;
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const hits = () => hitsIn(page);
    const nothing = NOTHING_HIT;
    await page.getByRole('article').waitFor();
    for (let index = 0; index < payloads.length; index += 1) {
      await page.keyboard.press('j');
      expect(await page.locator('.wait-card').count()).toBe(1);
    }
    expect(await hits()).toEqual(nothing);
    // All of a wait is there: what is hidden is spelled out.
    expect(await page.locator('.inbox-list .list-row').count()).toBeGreaterThanOrEqual(payloads.length);
    for (const path of ['/sessions', `/sessions/${asking.session}?mode=full`, `/sessions/${asking.session}?mode=raw&event=5`]) {
      await page.goto(world.origin + path);
      await page.locator('.timeline-row, .table tbody tr').first().waitFor();
      expect(await hits()).toEqual(nothing);
    }
    const [merged] = await ledger.read({ session: asking.session, types: ['task.merged'] });
    for (const [path, place, count] of [
      [`/sessions/${asking.session}/result`, '.claims li', 2 * payloads.length],
      [`/sessions/${asking.session}/files?report=${merged?.position}`, '.split-main section', payloads.length],
      [`/sessions/${asking.session}/messages`, '.messages > li', payloads.length],
    ] as const) {
      await page.goto(world.origin + path);
      await expect.poll(() => page.locator(place).count(), { message: path }).toBeGreaterThanOrEqual(count);
      expect({ path, ...(await hits()) }).toEqual({ path, ...nothing });
    }
    await page.goto(`${world.origin}/sessions/${answers.session}/result`);
    await expect.poll(() => page.locator('.prose').count()).toBe(payloads.length + 1);
    expect(await hits()).toEqual(nothing);
    // A link opens nothing before its host was shown and somebody has agreed.
    const links = page.locator('.prose a[href]');
    for (let index = 0; index < (await links.count()); index += 1) await links.nth(index).click();
    expect(dialogs.length).toBe(await links.count());
    expect(dialogs.every((text) => /evil\.example|bank\.example/.test(text))).toBe(true);
    expect(await links.allTextContents()).toEqual(expect.arrayContaining(['https://bank.example (evil.example)']));
    expect({ wrong, elsewhere, hit: await hits(), title: await page.title() }).toEqual({
      ...{ wrong: [], elsewhere: [], hit: nothing },
      title: expect.stringMatching(/Result · Troupe$/),
    });
    expect(new URL(page.url()).pathname).toContain('/result');
  });
});
