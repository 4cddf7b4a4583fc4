/** What the sample executor does to files by itself, without asking and without a word. Paths are relative to its session. */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Step } from './sample-steps.ts';

/** `PATH TEXT`, where `\n` in the text is a new line. */
function pathAndText(rest: string, cwd: string): { readonly path: string; readonly text: string } {
  const [path = '', ...words] = rest.split(' ');
  return { path: resolve(cwd, path), text: words.join(' ').replaceAll('\\n', '\n') };
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

export const fileSteps: Readonly<Record<string, Step>> = {
  async put(rest, { cwd }) {
    const { path, text } = pathAndText(rest, cwd);
    put(path, text);
  },
  async append(rest, { cwd }) {
    const { path, text } = pathAndText(rest, cwd);
    appendFileSync(path, text);
  },
  /** `sly PATH TEXT`: as large and as old as it was. */
  async sly(rest, { cwd }) {
    const { path, text } = pathAndText(rest, cwd);
    const { size, atime, mtime } = statSync(path);
    put(path, text.padEnd(size));
    utimesSync(path, atime, mtime);
  },
  async remove(rest, { cwd }) {
    rmSync(resolve(cwd, rest), { recursive: true, force: true });
  },
  async rename(rest, { cwd }) {
    const [from = '', to = ''] = rest.split(' ');
    // In another life it is done already.
    if (existsSync(resolve(cwd, from))) renameSync(resolve(cwd, from), resolve(cwd, to));
  },
  async link(rest, { cwd }) {
    const [path = '', target = ''] = rest.split(' ');
    symlinkSync(target, resolve(cwd, path));
  },
  async executable(rest, { cwd }) {
    chmodSync(resolve(cwd, rest), 0o755);
  },
  /** `many COUNT FOLDER`: so many files of ten lines. */
  async many(rest, { cwd }) {
    const [count = '0', folder = ''] = rest.split(' ');
    for (let at = 0; at < Number(count); at += 1) put(resolve(cwd, folder, `${at}.txt`), 'line\n'.repeat(10));
  },
  /** `large LINES PATH`. */
  async large(rest, { cwd }) {
    const [lines = '0', path = ''] = rest.split(' ');
    put(resolve(cwd, path), Array.from({ length: Number(lines) }, (_, at) => `line ${at}\n`).join(''));
  },
  async binary(rest, { cwd }) {
    put(resolve(cwd, rest), Buffer.from([0, 1, 2, 255, 0, 254]));
  },
  /** `count PATH TEXT`: an effect outside that can be counted. */
  async count(rest) {
    const [path = '', ...words] = rest.split(' ');
    appendFileSync(path, `${words.join(' ')}\n`);
  },
  /** `pid PATH`: says who works, to whoever wants to end it. */
  async 'pid-to'(rest) {
    appendFileSync(rest, `${process.pid}\n`);
  },
  /**
   * `do EFFECTS NAME PATH`: makes the file, and leaves a line outside that it did. That line is what the session remembers: it
   * does nothing again that it has done itself.
   */
  async do(rest, { cwd, client, session }) {
    const [effects = '', name = '', path = ''] = rest.split(' ');
    const line = `${name} ${session}\n`;
    if (existsSync(effects) && readFileSync(effects, 'utf8').includes(line)) return;
    const tell = (update: object): Promise<void> => client.notify('session/update', { sessionId: session, update });
    await tell({ sessionUpdate: 'tool_call', toolCallId: name, title: name, kind: 'edit', status: 'in_progress' });
    put(resolve(cwd, path), `exports.name = '${name}';\n`);
    appendFileSync(effects, line);
    await tell({ sessionUpdate: 'tool_call_update', toolCallId: name, status: 'completed' });
  },
  /** Runs it itself. */
  async shell(rest, { cwd }) {
    await new Promise((ended) => spawn('sh', ['-c', rest], { cwd, stdio: 'ignore' }).on('close', ended));
  },
  /** Says that it is done, and then goes on: when its input has ended. */
  async afterwards(rest, { cwd }) {
    const { path, text } = pathAndText(rest, cwd);
    process.stdin.prependOnceListener('end', () => put(path, text));
  },
  /** Goes on once there is such a file. */
  async until(rest, { cwd }) {
    while (!existsSync(resolve(cwd, rest))) await new Promise((again) => setTimeout(again, 10));
  },
  /** Says what is in a file. */
  async shows(rest, { cwd, client, session, said }) {
    const text = readFileSync(resolve(cwd, rest), 'utf8');
    said.push(text);
    await client.notify('session/update', {
      sessionId: session,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    });
  },
};
