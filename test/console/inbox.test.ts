/** The inbox in a real browser, over a real server with real runs that wait: answered there, from elsewhere, and on a phone. */
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InboxItem } from '../../console/api/types.ts';
import { agentWith, createTestProject } from '../e2e/support-project.ts';
import { textsOf } from '../support/assistants/client.ts';
import { barriers, type Looking, shots, startLooking } from '../support/console/browser.ts';
import { sendJson } from '../support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../support/http/served-project.ts';
import { connectClient } from '../support/mcp/fixture-http.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { agent, type Brain, calls, reports, turnOf } from '../support/world.ts';

const writer = agent({ name: 'writer', tools: ['write'], permissions: { write: 'ask' } });
const asker = agent({ name: 'asker', tools: ['ask'], permissions: {} });

const brain: Brain = (request) => {
  const has = (tool: string): boolean => request.tools.some(({ name }) => name === tool);
  if (turnOf(request) > 1) return reports('done');
  if (has('ask')) return calls({ name: 'ask', input: { question: 'Which colour?', choices: ['red', 'blue'] } });
  // The id is one as some providers give it: it stands in the address of the question.
  return calls({ name: 'write', input: { path: 'a.txt', content: 'one\u202etwo' }, id: 'functions.write:0' });
};

let looking: Looking;
beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking[Symbol.asyncDispose]());

const serve = (): Promise<ServedWorld> => serveWorld({ brain, agents: [writer, asker], pages: looking.pages });

const start = async (world: ServedWorld, name: string): Promise<InboxItem> => {
  const response = await world.ask('/api/v1/runs', sendJson({ agent: name, prompt: 'Begin.' }));
  const { run } = (await response.json()) as { run: string };
  const open = async (): Promise<readonly InboxItem[]> => (await (await world.ask('/api/v1/inbox')).json()) as InboxItem[];
  await expect.poll(async () => (await open()).some((item) => item.run === run)).toBe(true);
  const found = (await open()).find((item) => item.run === run);
  if (found === undefined) throw new Error('it does not wait');
  return found;
};

describe('the inbox', () => {
  it('shows all of what is asked, and approves it, changed, or denies it with words', async () => {
    await using world = await serve();
    await start(world, 'writer');
    await using opened = await looking.open(world, '/inbox');
    const { page, wrong, elsewhere } = opened;
    const card = page.getByRole('article', { name: 'writer waits for you' });
    await card.waitFor();
    // What a screen would turn around is spelled out.
    expect(await card.textContent()).toMatch(/writer wants to use write[\s\S]*\+one⟨U\+202E⟩two/);
    expect(await page.title()).toBe('(1) Inbox · Troupe');
    await shots(page, 'inbox');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    await page.keyboard.press('4');
    const field = page.getByLabel('The arguments, as JSON');
    await field.fill('{"path": "b.txt"');
    await page.getByRole('button', { name: 'Approve this instead' }).click();
    await page.getByText('This is not JSON; nothing was sent.').waitFor();
    await field.fill('{"path": "b.txt", "content": "changed"}');
    await page.getByRole('button', { name: 'Approve this instead' }).click();
    await page.getByText('Approved. The run goes on.').waitFor();
    await expect.poll(() => readFile(join(world.folder, 'b.txt'), 'utf8')).toBe('changed');
    await expect.poll(() => page.title()).toBe('Inbox · Troupe');
    const second = await start(world, 'writer');
    await page.getByRole('link', { name: /^writer write/ }).click();
    await page.keyboard.press('5');
    await page.getByLabel(/Why not/).fill('Not there.');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Denied. The run goes on.').waitFor();
    const answered = await world.ledger.read({ session: second.session as never, types: ['approval.answered'] });
    expect(answered.map(({ payload }) => payload)).toMatchObject([
      { answer: { kind: 'denied', note: 'Not there.' }, by: 'owner', where: 'api' },
    ]);
    expect({ wrong, elsewhere }).toEqual({ wrong: [], elsewhere: [] });
  });

  it('gives a rule for the session, or for the project, and then nobody is asked', async () => {
    await using world = await serve();
    await start(world, 'writer');
    await using opened = await looking.open(world, '/inbox');
    const { page, wrong } = opened;
    type Rules = { readonly rules: readonly { readonly from: string; readonly tool: string }[] };
    const given = async () => {
      const { rules } = (await (await world.ask('/api/v1/permissions')).json()) as Rules;
      return rules.filter(({ tool }) => tool === 'write').map(({ from }) => from);
    };
    expect(await given()).toEqual([]);
    for (const key of ['2', '3']) {
      await page.getByText('2 and 3 would also allow, from now on:').waitFor();
      await page.keyboard.press(key);
      await page.getByText('Approved. The run goes on.').waitFor();
      if (key === '2') {
        expect(await given()).toEqual(['session']);
        await expect.poll(() => page.title()).toBe('Inbox · Troupe');
        await start(world, 'writer');
        await page.getByRole('link', { name: /^writer write/ }).click();
      }
    }
    expect(await given()).toContain('remembered');
    const response = await world.ask('/api/v1/runs', sendJson({ agent: 'writer', prompt: 'Again.' }));
    const { run } = (await response.json()) as { run: string };
    await expect.poll(async () => (await world.ledger.runs({ run: run as never }))[0]?.state).toBe('completed');
    expect(wrong).toEqual([]);
  });

  it('says who was first when somebody else has answered', async () => {
    await using world = await serve();
    const item = await start(world, 'writer');
    await using opened = await looking.open(world, '/inbox');
    const { page } = opened;
    await page.getByRole('article', { name: 'writer waits for you' }).waitFor();
    // Theirs is under way while the other one answers.
    const { promise: isAnswered, resolve: answered } = Promise.withResolvers<void>();
    await page.route('**/answers', (route) => isAnswered.then(() => route.continue()));
    await page.keyboard.press('1');
    await page.getByText('Sent; waiting for the ledger to have it.').waitFor();
    const shown = item.kind === 'permission' ? item.shown : undefined;
    const body = { wait: item.wait, answer: { kind: 'denied', note: 'from a terminal' }, shown };
    expect((await world.ask(`/api/v1/runs/${item.run}/answers`, sendJson(body))).status).toBe(200);
    answered();
    await page.getByText(/Somebody was first: Denied by owner/).waitFor();
  });

  it('shows whose answer counts when somebody has answered before anything was pressed, also who comes later', async () => {
    await using world = await serve();
    const [item, other] = [await start(world, 'writer'), await start(world, 'asker')];
    await using opened = await looking.open(world, '/inbox');
    const { page, wrong } = opened;
    await page.getByRole('article', { name: 'writer waits for you' }).waitFor();
    const shown = item.kind === 'permission' ? item.shown : undefined;
    const answer = async (to: InboxItem, body: object) =>
      expect((await world.ask(`/api/v1/runs/${to.run}/answers`, sendJson({ wait: to.wait, ...body }))).status).toBe(200);
    await answer(item, { answer: { kind: 'denied', note: 'from a terminal' }, shown });
    await page.getByText(/Already answered: denied by owner/).waitFor();
    // What was shown stays, and nothing can be pressed any more.
    await page.keyboard.press('1');
    expect(await page.getByRole('button', { name: /^Approve once/ }).isDisabled()).toBe(true);
    expect(await page.getByText(/Sent; waiting/).count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    // A link to it that is opened only now, and one to what nobody has answered.
    await page.goto(`${world.origin}/inbox/${item.run}/${item.wait}`);
    await page.getByText(/Already answered: denied by owner/).waitFor();
    await page.getByText('1 more waiting for you').waitFor();
    await shots(page, 'inbox-answered');
    expect(await barriers(page)).toEqual([]);
    await page.goto(`${world.origin}/inbox/${other.run}/none`);
    await page.getByText(/nobody has given one/).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'asker asks' }).waitFor();
    await answer(other, { answer: { kind: 'text', text: 'red' } });
    await page.getByText(/Already answered: answered by owner/).waitFor();
    expect(await page.getByRole('button', { name: 'red' }).isDisabled()).toBe(true);
    expect(wrong).toEqual([]);
  });

  it('has a page for a phone behind one link, which also says that it was answered', async () => {
    await using world = await serve();
    const item = await start(world, 'asker');
    const path = `/answer/${item.run}/${item.wait}`;
    await using opened = await looking.open(world, path, { viewport: { width: 380, height: 780 }, hasTouch: true });
    const { page, wrong } = opened;
    await page.getByText('Which colour?').waitFor();
    await shots(page, 'answer');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'blue' }).click();
    await page.getByText('Answered. The run goes on.').waitFor();
    await page.reload();
    await page.getByText(/Already answered: answered by owner/).waitFor();
    expect(wrong).toEqual([]);
  });

  it('and two consoles, a terminal and an MCP client answer the same wait at once: one wins, all show who', async () => {
    const OWNER = 'owner-0123456789abcdef';
    const ODA = 'oda-0123456789abcdef';
    const settings = 'serve: { commands: [helper], callers: { oda: { tokenEnv: ODA_TOKEN, role: operator, approves: true } } }\n';
    await using project = await createTestProject(settings, agentWith('tools: [shell]'));
    const { promise: never } = Promise.withResolvers<{ text: string }>();
    // It goes on, and does not end while they answer.
    await project.serve({ calls: [{ name: 'shell', input: { command: 'echo once >> made.txt' } }] }, () => never);
    await project.write('browser', `#!/bin/sh\nprintf '%s' "$1" > '${join(project.folder, 'address')}'\n`);
    await chmod(join(project.folder, 'browser'), 0o755);
    Object.assign(project.env, { BROWSER: join(project.folder, 'browser'), TROUPE_TOKEN: OWNER, ODA_TOKEN: ODA });
    const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
    const serving = project.start(['serve', '--as', 'ora', '--open', '--port', '0'], { main });
    const address = () => readFile(join(project.folder, 'address'), 'utf8').catch(() => '');
    await expect.poll(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login#/);
    const login = new URL(await address());
    const api = async <Value>(path: string, token: string, more: RequestInit = {}): Promise<Value> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await (await fetch(new URL(`/api/v1/${path}`, login), { headers, ...more })).json()) as Value;
    };
    const requestInit = { headers: { authorization: `Bearer ${OWNER}` } };
    const client = await connectClient('2026-07-28', new StreamableHTTPClientTransport(new URL('/mcp', login), { requestInit }));
    const spawned = await client.callTool({ name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: 'Make it.' } });
    const { process_id } = spawned.structuredContent as { process_id: string };
    const inbox = () => api<readonly InboxItem[]>('inbox', OWNER);
    await expect.poll(async () => (await inbox()).length).toBe(1);
    const [item] = await inbox();
    const code = await api<{ path: string }>('login-codes', ODA, { method: 'POST', body: '{}' });
    const consoles = await Promise.all(
      [login.href, new URL(code.path, login).href].map(async (link) => {
        const context = await looking.browser.newContext({ viewport: { width: 1_280, height: 800 } });
        context.setDefaultTimeout(PATIENCE_MS);
        const page = await context.newPage();
        await page.goto(link);
        await page.getByRole('heading', { name: 'helper wants to use shell' }).waitFor();
        return page;
      }),
    );
    const { thread_id } = spawned.structuredContent as { thread_id: string };
    const write = (message: string) =>
      client.callTool({ name: 'send_message', arguments: { to_assistant_id: 'helper', thread_id, message } });
    await write('Heard with the answer.');
    const question_id = `${item?.run}/${item?.wait}`;
    // A page that has heard of an answer has nothing to press any more: the keys are first, and what comes of them is open.
    await Promise.all(consoles.map((page) => page.keyboard.press('1')));
    const [pressed, said, told] = await Promise.all([
      Promise.all(
        consoles.map((page) => page.getByText(/Approved\. The run goes on|Somebody was first|Already answered/).textContent()),
      ),
      project.look('approve', process_id, '--no-resume'),
      client.callTool({ name: 'answer_assistant', arguments: { process_id, question_id, answer: 'yes' } }),
    ]);
    const session = item?.session ?? '';
    type Events = { readonly events: readonly { event_type: string; payload: { by?: string; where?: string } }[] };
    const { events } = await api<Events>(`sessions/${session}/events`, OWNER);
    const answers = events.filter(({ event_type }) => event_type === 'approval.answered').map(({ payload }) => payload);
    expect(answers).toHaveLength(1);
    const [first] = answers;
    const won = [
      /^✓ Approved\./.test(pressed[0] ?? ''),
      /^✓ Approved\./.test(pressed[1] ?? ''),
      said.code === 0,
      told.isError !== true,
    ];
    expect(won.filter(Boolean)).toHaveLength(1);
    const shown = [...pressed, said.err, textsOf(told).join('')];
    for (const [index, words] of shown.entries()) if (won[index] !== true) expect(words).toContain(first?.by);
    await expect.poll(() => readFile(join(project.folder, 'made.txt'), 'utf8')).toBe('once\n');
    // And afterwards all of them see whose it was: in the session, and at the prompt.
    await consoles[1]?.goto(new URL(`/sessions/${session}`, login).href);
    await consoles[1]?.getByText(`approved by ${first?.by}`).first().waitFor();
    expect((await project.look('logs', session)).out).toContain(`approved by ${first?.by}`);
    // The assistant and its thread: what its model has been told, and what it has not.
    await write('Too late for this turn.');
    await consoles[0]?.goto(new URL('/assistants', login).href);
    const row = consoles[0]?.getByRole('row', { name: /helper/ });
    expect(await row?.textContent()).toMatch(/● running/);
    if (consoles[0] !== undefined) {
      await shots(consoles[0], 'assistants-rows');
      expect(await barriers(consoles[0])).toEqual([]);
    }
    await row?.getByRole('link', { name: 'helper' }).click();
    const thread = consoles[0]?.getByRole('region', { name: 'Thread of helper' });
    const receipt = (said: string, words: RegExp) =>
      thread?.getByRole('listitem').filter({ hasText: said }).getByText(words).waitFor();
    await receipt('Heard with the answer.', /^✓ part of a request after/);
    await receipt('Too late for this turn.', /^◌ not read yet, for/);
    for (const page of consoles) await page.context().close();
    await client.close();
    serving.kill('SIGKILL');
    await serving.ended;
  });

  it('notifies whoever asked for it, whatever view is open, and is reached by keys', async () => {
    await using world = await serve();
    await using opened = await looking.open(world, '/inbox');
    const { page, wrong } = opened;
    // The browser of the tests has no notifications: this one keeps them.
    await page.addInitScript(`(() => {
      window.notices = [];
      window.Notification = class {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title, { tag }) { Object.assign(this, { title, tag }); window.notices.push(this); }
      };
      let isHidden = false;
      Object.defineProperty(document, 'hidden', { get: () => isHidden, set: (next) => { isHidden = next; } });
    })()`);
    await page.reload();
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notifies you' }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill('heal');
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/health$/);
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    await page.evaluate('document.hidden = true');
    const item = await start(world, 'writer');
    const notices = async () => await page.evaluate('notices.map(({ title, tag }) => [title, tag])');
    await expect.poll(notices).toEqual([['writer wants a permission', `${item.run} ${item.wait}`]]);
    await page.evaluate('document.hidden = false; notices[0].onclick()');
    await page.waitForURL(new RegExp(`/inbox/${item.run}/`));
    await page.getByRole('article', { name: 'writer waits for you' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('deny, with words').waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    for (const [key, place] of [
      ...[
        ['s', 'sessions'],
        ['g', 'groups'],
        ['a', 'agents'],
        ['c', 'costs'],
        ['h', 'health'],
        ['i', 'inbox'],
      ],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForURL(`${world.origin}/${place}`);
    }
    expect(wrong).toEqual([]);
  });

  it('tells who is not logged in how to get in, and shows nothing', async () => {
    await using world = await serve();
    const context = await looking.browser.newContext();
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(`${world.origin}/health?from=elsewhere`);
    await page.getByRole('heading', { name: 'You are not logged in' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    // What was asked for is shown after the login; a link that names a page shows that, and none of another origin.
    await page.goto(world.origin + world.loginPath());
    await page.waitForURL(`${world.origin}/health?from=elsewhere`);
    for (const [named, shown] of [
      ['/costs', '/costs'],
      ['//evil.example/a', '/'],
      ['/\\evil.example/a', '/'],
      ['/login#x', '/'],
      ['', '/'],
    ] as const) {
      await page.goto('about:blank');
      await page.goto(world.origin + world.loginPath() + named);
      await page.waitForURL(world.origin + shown);
    }
    await context.close();
  });

  it('logs a phone in by one link, which shows it the question', async () => {
    await using world = await serve();
    const item = await start(world, 'asker');
    await using opened = await looking.open(world, '/inbox');
    const { page, wrong } = opened;
    await page.getByRole('button', { name: 'On a phone' }).click();
    const dialog = page.getByRole('dialog', { name: 'Another device' });
    const address = await dialog.getByRole('textbox').inputValue();
    await dialog.getByRole('img', { name: 'The link as a QR code' }).waitFor();
    await shots(page, 'another-device');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    const phone = await looking.browser.newContext({ viewport: { width: 380, height: 780 }, hasTouch: true });
    phone.setDefaultTimeout(PATIENCE_MS);
    const small = await phone.newPage();
    await small.goto(address);
    await small.getByText('Which colour?').waitFor();
    expect(new URL(small.url()).pathname).toBe(`/answer/${item.run}/${item.wait}`);
    await small.getByRole('button', { name: 'blue' }).click();
    await small.getByText('Answered. The run goes on.').waitFor();
    await small.goto('about:blank');
    await small.goto(address);
    await small.getByText(/There is no such code, or not any more/).waitFor();
    await phone.close();
    await page.keyboard.press('Escape');
    await page.goto(`${world.origin}/health`);
    await page.getByRole('button', { name: 'Another device' }).click();
    expect(await dialog.getByRole('textbox').inputValue()).toMatch(/#[\w-]+\/health$/);
    expect(wrong).toEqual([]);
  });
});
