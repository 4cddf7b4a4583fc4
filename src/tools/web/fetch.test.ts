import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unseen } from '../../../test/support/tool-workspace.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { ToolOutcome } from '../port.ts';
import { fetchTool } from './fetch.ts';
import { htmlToText } from './html-text.ts';

const context = {
  workspace: '/',
  signal: new AbortController().signal,
  run: 'run_test' as RunId,
  idempotencyKey: 'k',
  seen: unseen,
  redact: (text: string) => text,
};
const open = fetchTool({ clock: systemClock, allowLocal: true });
const closed = fetchTool({ clock: systemClock });
const textOf = (outcome: ToolOutcome): string =>
  outcome.kind === 'error'
    ? `error: ${outcome.message}`
    : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

describe('the fetch tool', () => {
  it('turns HTML into text and JSON into lines', async () => {
    await using site = await serve((request, response) => {
      if (request.url === '/data') response.setHeader('content-type', 'application/json').end('{"a":[1]}');
      else
        response.setHeader('content-type', 'text/html').end('<h1>Title</h1><script>evil()</script><p>See <a href="/x">this</a>.');
    });
    expect(textOf(await open.run({ url: site.url }, context))).toBe(`200 ${site.url}/\n\n# Title\n\nSee [this](${site.url}/x).`);
    expect(textOf(await open.run({ url: `${site.url}/data` }, context))).toBe(
      `200 ${site.url}/data\n\n{\n  "a": [\n    1\n  ]\n}`,
    );
  });

  it('unpacks, decodes and asks for headers only', async () => {
    await using site = await serve((request, response) => {
      response.setHeader('content-type', 'text/plain; charset=iso-8859-1').setHeader('content-encoding', 'gzip');
      response.end(request.method === 'HEAD' ? undefined : gzipSync(Buffer.from('caf\xe9', 'latin1')));
    });
    expect(textOf(await open.run({ url: site.url }, context))).toContain('café');
    expect(textOf(await open.run({ url: site.url, method: 'HEAD' }, context))).toContain('content-encoding: gzip');
  });

  it('is not led on to another host that is not allowed', async () => {
    await using other = await serve((_request, response) => response.end('elsewhere'));
    await using site = await serve((request, response) => {
      if (request.url === '/here') response.end('here');
      else response.writeHead(302, { location: request.url === '/in' ? '/here' : other.url }).end();
    });
    const asked: string[] = [];
    const narrow = { ...context, mayFetch: (address: string) => asked.push(address) < 0 };
    expect(textOf(await open.run({ url: `${site.url}/in` }, narrow))).toContain('here');
    expect(asked).toEqual([]);
    expect(textOf(await open.run({ url: `${site.url}/out` }, narrow))).toContain('not allowed without a question');
    expect(asked).toEqual([`${other.url}/`]);
    expect(textOf(await open.run({ url: `${site.url}/out` }, context))).toContain('elsewhere');
  });

  it('follows redirects up to a limit', async () => {
    await using site = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect(textOf(await open.run({ url: `${site.url}/5` }, context))).toContain('there');
    expect(textOf(await open.run({ url: `${site.url}/6` }, context))).toContain('more than 5 redirects (fetchRedirects)');
  });

  it('cuts what is too long, also when it was packed small', async () => {
    await using site = await serve((_request, response) => {
      response
        .setHeader('content-type', 'text/plain')
        .setHeader('content-encoding', 'gzip')
        .end(gzipSync(Buffer.alloc(20_000_000, 'x')));
    });
    const text = textOf(await open.run({ url: site.url }, context));
    expect(text).toContain('(cut at 5,242,880 bytes (fetchBytes))');
    expect(text.length).toBeLessThan(limits.fetchBytes + 200);
  });

  it('refuses binary, reports errors, gives up on silence', async () => {
    await using site = await serve((request, response) => {
      if (request.url === '/image') response.setHeader('content-type', 'image/png').end('x');
      else if (request.url === '/missing') response.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
    });
    expect(textOf(await open.run({ url: `${site.url}/image` }, context))).toContain('not text but image/png');
    expect(textOf(await open.run({ url: `${site.url}/missing` }, context))).toBe(`error: 404 ${site.url}/missing\n\nnot here`);
    const quick: Clock = {
      ...systemClock,
      after: (delayMs, callback, hold) => systemClock.after(delayMs / 1_000, callback, hold),
    };
    const impatient = fetchTool({ clock: quick, allowLocal: true });
    expect(textOf(await impatient.run({ url: `${site.url}/silence` }, context))).toContain('no answer within 60 s (fetchMs)');
  });

  it('stays away from local networks', async () => {
    let asked = 0;
    await using site = await serve((_request, response) => {
      asked += 1;
      response.end('secret');
    });
    const ways = [
      `127.0.0.1:${site.port}`,
      `localhost:${site.port}`,
      `0x7f000001:${site.port}`,
      `2130706433:${site.port}`,
      `[::1]:${site.port}`,
    ];
    for (const host of [...ways, `[::ffff:127.0.0.1]:${site.port}`, '169.254.169.254', '10.0.0.1', '[fe80::1]', '0.0.0.0']) {
      expect(textOf(await closed.run({ url: `http://${host}/` }, context)), host).toContain('not a public address');
    }
    expect(asked).toBe(0);
  });

  it('speaks http and https only, without passwords', async () => {
    for (const url of [
      'file:///etc/passwd',
      'ftp://example.org',
      'data:text/plain,x',
      'nonsense',
      'http://user:pass@example.org/',
    ]) {
      expect((await closed.run({ url }, context)).kind).toBe('error');
    }
  });
});

describe('htmlToText makes text of a page', () => {
  it.each([
    ['<p>a</p><p>b &amp; c &#65;&#x42; &unknown;', 'a\n\nb & c AB &unknown;'],
    ['<ul><li>one<li>two</ul>', '- one\n- two'],
    ['<pre>a\n  b</pre>', 'a\n  b'],
    ['<style>x{}</style><!-- c > --><b>bold</b> text', 'bold text'],
    ['<a href="javascript:x">plain</a> <a href=http://h/?a&amp;b>go</a>', 'plain [go](http://h/?a&b)'],
    ['<table><tr><td>1</td><td>2</td></tr></table>', '1 | 2 |'],
    ['1 < 2 and 3', '1 < 2 and 3'],
    ['<script>never closed', ''],
  ])('%s', (html, text) => expect(htmlToText(html)).toBe(text));

  it('takes anything, in linear time', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '/', 'a', '!', '-', '"', '&', ';', ' ', 'p', '=') }),
        (html) => void htmlToText(html),
      ),
    );
    for (const piece of ['<a', '<!--', '<script', '<a href="', '&amp', '<p>', '<a href=x>', '</a>', ' ', '\n']) {
      // So much that anything but a walk through it would not come back.
      htmlToText(piece.repeat(1_000_000));
    }
  });
});
