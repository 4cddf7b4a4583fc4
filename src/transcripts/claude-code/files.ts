/** The files of one conversation of Claude Code: its own, and those of its sub-agents. */
import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { nameIn, textIn, timeIn } from '../fields.ts';
import type { Transcript, TranscriptHead } from '../items.ts';
import { digestOf, transcriptLines } from '../lines.ts';
import { readClaudeCode, type SubAgentFile } from './read.ts';

const OWN_KINDS = new Set(['user', 'assistant', 'system', 'summary', 'attachment', 'queue-operation', 'file-history-snapshot']);

/** Lines that tell which conversation it is stand at its beginning. */
const LOOKED_AT = 200;

export async function claudeHead(path: string, bytes: number): Promise<TranscriptHead | undefined> {
  let [looked, known] = [0, 0];
  let [id, version, folder, title]: (string | undefined)[] = [];
  let at: number | undefined;
  for await (const line of transcriptLines(path, bytes)) {
    looked += 1;
    if (looked > LOOKED_AT) break;
    if (line.kind === 'other') continue;
    const { value } = line;
    const kind = textIn(value, 'type');
    if (kind !== undefined && OWN_KINDS.has(kind)) known += 1;
    id ??= nameIn(value, 'sessionId');
    version ??= nameIn(value, 'version');
    folder ??= textIn(value, 'cwd');
    if (kind === 'summary') title ??= nameIn(value, 'summary');
    at ??= timeIn(value, 'timestamp');
    if (id !== undefined && version !== undefined && folder !== undefined && known > 0) break;
  }
  if (id === undefined || known === 0) return undefined;
  return { program: 'claude-code', id, version, folder, title, at: at ?? 0 };
}

export async function claudeTranscript(path: string, head: TranscriptHead): Promise<Transcript> {
  const main = { path, bytes: (await stat(path)).size };
  const agents = new Map((await agentFiles(path)).map((file) => [file.id, file]));
  const all = [{ name: 'main', ...main }, ...[...agents.values()].map(({ id, ...file }) => ({ ...file, name: id }))];
  const bytes = all.reduce((sum, file) => sum + file.bytes, 0);
  return { head, path, bytes, sha256: await digestOf(all), items: () => readClaudeCode({ main, agents }) };
}

/** `<session>.jsonl` has them in `<session>/subagents`. */
async function agentFiles(path: string): Promise<readonly SubAgentFile[]> {
  const folder = join(dirname(path), basename(path, '.jsonl'), 'subagents');
  const names = await readdir(folder).catch(() => []);
  const found: SubAgentFile[] = [];
  for (const name of names.sort()) {
    const id = /^agent-(.+)\.jsonl$/.exec(name)?.[1];
    if (id === undefined || found.length >= limits.transcriptFiles) continue;
    const file = join(folder, name);
    const size = await stat(file).then(
      (info) => (info.isFile() ? info.size : 0),
      () => 0,
    );
    const told = parseJson(await beginningOf(join(folder, `agent-${id}.meta.json`)));
    const meta = told.ok ? told.value : undefined;
    found.push({ id, path: file, bytes: size, name: nameIn(meta, 'agentType'), call: nameIn(meta, 'toolUseId') });
  }
  return found;
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
