/**
 * The file of a user's own presets. Ours is `{"version": 1, "presets": […]}`; an array as PolyPilot writes it is read as well,
 * so that its file may simply be put in the place of ours. A file that cannot be read is an empty list and a warning: what
 * somebody saved last month must not keep them from working today.
 *
 * Writing keeps what was not understood: other entries stay to the letter, and a file that is not JSON is not written over.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { diagnoseIssues } from '../definition/schema-issues.ts';
import type { SourcePlace } from '../text/diagnostics.ts';
import { type ReadFailure, readText } from '../text/read-text.ts';
import { writeText } from '../text/write-text.ts';
import { isForeignPreset, ownKeys } from './import.ts';
import { type PresetContent, plainName, presetSchema } from './preset.ts';
import { type Oddity, rightsProblems, strangeKeys, unusedWords } from './rights.ts';

const VERSION = 1;

export const userPresetsFile = (userConfigDir: string): string => join(userConfigDir, 'presets.json');

export interface ReadPresets {
  readonly presets: readonly PresetContent[];
  readonly warnings: readonly string[];
}

/** `servers` are the MCP servers that rights may name; without them nothing is said about such names. */
export async function readPresetFile(path: string, servers?: readonly string[]): Promise<ReadPresets> {
  const listed = await readList(path);
  if (!listed.ok) return { presets: [], warnings: [`${path} ${listed.error.message}: its presets are left out`] };
  const { presets, warnings } = readEntries(listed.value.entries, servers);
  return { presets, warnings: warnings.map((one) => `${path}: ${one}`) };
}

/** Fails when the whole is wrong; what is wrong with single presets is a warning. */
export function readPresets(text: string, servers?: readonly string[]): Result<ReadPresets, string> {
  const listed = listOf(text);
  return listed.ok ? ok(readEntries(listed.value.entries, servers)) : listed;
}

/** Adds presets to the file; one of the same name takes the place of what was there. */
export async function savePresets(path: string, added: readonly PresetContent[]): Promise<Result<string, ReadFailure>> {
  const listed = await readList(path);
  if (!listed.ok) {
    return fail({ message: `is not written over: it ${listed.error.message}`, fix: 'Correct the file, or move it away.' });
  }
  const entries = merged(listed.value.entries, added);
  if (entries.length > limits.presetsPerFile) {
    return fail({ message: `would hold more than ${limits.presetsPerFile} presets (limit presetsPerFile)` });
  }
  const text = `${JSON.stringify({ ...listed.value.around, version: VERSION, presets: entries }, null, 2)}\n`;
  try {
    await mkdir(dirname(path), { recursive: true });
  } catch (error) {
    return fail({ message: `cannot be written: ${messageOf(error)}` });
  }
  return await writeText(dirname(path), path, text);
}

interface Listed {
  readonly entries: readonly Json[];
  /** What else the file says. */
  readonly around: JsonObject;
}

async function readList(path: string): Promise<Result<Listed, ReadFailure>> {
  const text = await readText(path);
  if (!text.ok) return text.error.message === 'does not exist' ? ok({ entries: [], around: {} }) : text;
  const listed = listOf(text.value);
  return listed.ok ? listed : fail({ message: listed.error });
}

function listOf(text: string): Result<Listed, string> {
  const parsed = parseJson(text.replace(/^\ufeff/, ''));
  if (!parsed.ok) return fail(`is not JSON (${parsed.error})`);
  const { value } = parsed;
  if (Array.isArray(value)) return ok({ entries: value, around: {} });
  const presets = isJsonObject(value) ? value['presets'] : undefined;
  return isJsonObject(value) && Array.isArray(presets)
    ? ok({ entries: presets, around: value })
    : fail('holds no list of presets');
}

function readEntries(entries: readonly Json[], servers: readonly string[] | undefined): ReadPresets {
  const presets: PresetContent[] = [];
  const warnings: string[] = [];
  for (const [index, entry] of entries.slice(0, limits.presetsPerFile).entries()) {
    const { called, preset, oddities } = readEntry(entry, index, servers);
    if (preset !== undefined) presets.push(preset);
    const what = preset === undefined ? `preset ${called} is passed over` : `preset ${called}`;
    const told = preset === undefined ? oddities.filter(({ isGrave }) => isGrave) : oddities;
    warnings.push(...told.map(({ message }) => `${what}: ${message}`));
  }
  if (entries.length > limits.presetsPerFile) {
    warnings.push(`only the first ${limits.presetsPerFile} presets are read (limit presetsPerFile)`);
  }
  return { presets, warnings };
}

interface ReadEntry {
  readonly called: string;
  /** Without it the entry is passed over. */
  readonly preset?: PresetContent | undefined;
  readonly oddities: readonly Oddity[];
}

function readEntry(entry: Json, index: number, servers: readonly string[] | undefined): ReadEntry {
  if (!isJsonObject(entry)) {
    return { called: `number ${index + 1}`, oddities: [{ message: 'it is not a map of keys', isGrave: true }] };
  }
  const isForeign = isForeignPreset(entry);
  const said = isForeign ? ownKeys(entry) : entry;
  const called = typeof said['name'] === 'string' ? `"${said['name']}"` : `number ${index + 1}`;
  const read = presetSchema.safeParse(said, { reportInput: true });
  if (!read.success) return { called, oddities: refusals(read.error.issues) };
  const { mode } = read.data;
  const otherMode = `an unknown mode ${JSON.stringify(said['mode'])} becomes ${mode}`;
  const oddities: readonly Oddity[] = [
    ...strangeKeys(entry, isForeign),
    ...rightsProblems(read.data, servers),
    ...unusedWords(said, read.data),
    ...(said['mode'] === mode ? [] : [{ message: otherMode, isGrave: false }]),
  ];
  return { called, oddities, ...(oddities.some(({ isGrave }) => isGrave) ? {} : { preset: read.data }) };
}

/** In the words that are used for agents' files. */
function refusals(issues: Parameters<typeof diagnoseIssues>[0]): readonly Oddity[] {
  const placeOf = (): SourcePlace => ({ file: '', line: 1, column: 1 });
  const found = diagnoseIssues(issues, placeOf, () => []).slice(0, limits.diagnosticsPerFile);
  return found.map(({ message, fix }) => ({
    message: [message.replace('the frontmatter', 'it'), fix].filter(Boolean).join('. '),
    isGrave: true,
  }));
}

function merged(entries: readonly Json[], added: readonly PresetContent[]): readonly Json[] {
  const fresh = new Map(added.map((preset) => [plainName(preset.name), presetSchema.parse(preset) as Json]));
  const kept = entries.flatMap((entry) => {
    const name = isJsonObject(entry) ? (entry['name'] ?? entry['Name']) : undefined;
    const key = typeof name === 'string' ? plainName(name) : '';
    const instead = fresh.get(key);
    if (instead === undefined) return [entry];
    fresh.delete(key);
    return [instead];
  });
  return [...kept, ...fresh.values()];
}
