/**
 * One play of a scene at one width: a project of its own, people at pseudo-terminals in it, and what they saw, written down as
 * a session that a person can read.
 */
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createTestProject, type Ended, startProcess, type TestProject } from '../../e2e/support-project.ts';
import { PATIENCE_MS } from '../patience.ts';
import { programOf } from '../programs/programs.ts';
import { type AtKeyboard, type Seat, sitDown } from './at-keyboard.ts';
import { STAGE_SEED, STAGE_TIME } from './stage-variables.ts';

const STAGE_MAIN = await programOf(fileURLToPath(new URL('stage-main.ts', import.meta.url)));
const FIRST_TIME = Date.UTC(2026, 0, 15, 9, 30);
/** Every command is called so much later than the one before it. */
const BETWEEN_COMMANDS_MS = 60_000;
/** What stands in screens for the folder of the project. The folder's name is as long, so that nothing moves. */
const FOLDER = '/srv/projects/team/notebook-2026';
const MKDTEMP_CHARACTERS = 6;

/** Whether this is the picture that is expected now; while it is not, the person goes on looking. */
export type Expects = (session: string) => boolean;

export interface Person extends AtKeyboard {
  /** Takes a picture of the screen: it is compared with the recorded one. */
  looks(): Promise<void>;
  /** Waits for the end, takes a last picture and writes down the exit code. */
  ends(): Promise<void>;
}

export interface Stage extends AsyncDisposable {
  readonly project: TestProject;
  readonly columns: number;
  /** Somebody calls `troupe` with these words. `at` tells their terminal from another one in the same scene. */
  calls(args: readonly string[], seat?: Omit<Seat, 'columns' | 'main'> & { readonly at?: string }): Person;
  /** Writes down what somebody does who is not at a keyboard. */
  tells(what: string): void;
  /** In what is written down, this stands for that, which differs from play to play. Both are equally long. */
  standsFor(shown: string, real: string): void;
  /** The same for what cannot be known beforehand, such as how much room a disk has: the lines it is in are short. */
  standsForAny(shown: string, real: RegExp): void;
  session(): string;
  /** Every terminal as it stands now: for whoever wants to know where a play got stuck. */
  screens(): string;
}

export interface StageOptions {
  readonly columns: number;
  readonly expects: Expects;
  /** How long a screen must not change before it counts as what there is to see; only waited for where it is not as expected. */
  readonly quietMs: number;
  /** How many commands were called before. */
  readonly places: number;
  /** How long a picture or an end may take before the play counts as stuck. */
  readonly patienceMs?: number;
}

/** The command line without a terminal, as it prepares a scene. */
export type Backstage = (...args: readonly string[]) => Promise<Ended>;

/** Where a command stands in the order of them decides what time it is there, and its chance. */
const placed = (project: TestProject, place: number, time = place): Record<string, string> => ({
  ...project.env,
  // What there is on this machine is not part of a scene.
  TROUPE_SANDBOX: 'off',
  [STAGE_TIME]: `${FIRST_TIME + time * BETWEEN_COMMANDS_MS}`,
  [STAGE_SEED]: `${place}`,
});

/** Every call takes the next place. */
export function createBackstage(project: TestProject): { readonly troupe: Backstage; readonly places: () => number } {
  let places = 0;
  return {
    places: () => places,
    troupe(...args) {
      places += 1;
      return startProcess(project.folder, placed(project, places), args, { main: STAGE_MAIN }).ended;
    },
  };
}

/** A project in a folder whose name has a certain length. */
export async function createStageProject(): Promise<TestProject> {
  const base = existsSync('/dev/shm') ? '/dev/shm' : realpathSync('/tmp');
  const prefix = `${base}/troupe-`.padEnd(FOLDER.length - MKDTEMP_CHARACTERS, '-');
  return createTestProject('', undefined, prefix);
}

export function openStage(project: TestProject, options: StageOptions): Stage {
  const { columns, expects, quietMs, places, patienceMs = PATIENCE_MS } = options;
  const written: string[] = [];
  const stands: (readonly [shown: string, real: string | RegExp])[] = [[FOLDER, project.folder]];
  let commands = places;
  let minutes = places;
  let working = 0;
  let differs = false;
  const session = (): string => written.join('\n');
  const namesOf = (line: string): string => stands.reduce((text, [shown, real]) => text.replaceAll(real, shown), line);
  const pictures = new Map<AtKeyboard, readonly string[]>();
  const linesOf = (person: AtKeyboard): readonly string[] =>
    person.shown.paragraphs().flatMap((rows) => rowsOf(namesOf(rows.join('')), rows));
  const picture = (person: AtKeyboard): readonly string[] => {
    const lines = linesOf(person);
    const cursor = person.shown.cursorIsShown() ? [] : ['(the cursor is hidden)'];
    const bells = person.shown.bells();
    const rung = bells === 0 ? [] : [`(the bell has rung ${bells === 1 ? 'once' : `${bells} times`})`];
    const rule = '─'.repeat(person.shown.columns());
    return [rule, ...withoutKnown(lines, pictures.get(person) ?? []), ...cursor, ...rung, rule];
  };
  const keep = (person: AtKeyboard): void => {
    written.push(...picture(person));
    pictures.set(person, linesOf(person));
  };
  const photograph = async (person: AtKeyboard, stuck: AbortSignal): Promise<void> => {
    const before = session();
    const now = (): string => [before, ...picture(person)].join('\n');
    const moves = async (): Promise<boolean> => (await firstOf(person, quietMs)) === 'changed' && !stuck.aborted;
    // A screen that is not as expected may be on its way there. After the first one that stayed different nothing is expected.
    while (!expects(now()) && !differs) differs = !(await moves()) && !expects(now());
    if (differs) while (await moves());
    keep(person);
  };
  const terminals: { readonly called: string; readonly person: AtKeyboard }[] = [];
  const screens = (): string => terminals.map(({ called, person }) => `${called}\n${person.screen()}`).join('\n');
  const within = async (what: string, at: AtKeyboard, work: (stuck: AbortSignal) => Promise<void>): Promise<void> => {
    const stuck = AbortSignal.timeout(patienceMs);
    const { promise, reject } = Promise.withResolvers<never>();
    stuck.addEventListener('abort', () => reject(new Error(`${what}\n${at.screen()}`)), { once: true });
    await Promise.race([work(stuck), promise]);
  };
  return {
    project,
    columns,
    session,
    screens,
    standsFor(shown, real) {
      if (shown.length !== real.length) throw new Error(`not equally long: ${shown} and ${real}`);
      stands.push([shown, real]);
    },
    standsForAny: (shown, real) => void stands.push([shown, real]),
    tells: (what) => void written.push(`(${what})`),
    calls(args, { at, ...seat } = {}) {
      commands += 1;
      // While somebody works, whoever comes beside them does so at the same time.
      if (working === 0) minutes += 1;
      working += 1;
      const env = placed(project, commands, minutes);
      const who = at === undefined ? '' : `${at} `;
      const called = `${who}$ troupe ${args.map(asTyped).join(' ')}`;
      written.push(called);
      const person = sitDown({ folder: project.folder, env }, args, { ...seat, columns, main: STAGE_MAIN });
      terminals.push({ called, person });
      void person.ended.then(() => {
        working -= 1;
      });
      return {
        ...person,
        type(keys) {
          written.push(`${who}types ${keysText(keys)}`);
          person.type(keys);
        },
        resize(wide, high) {
          written.push(`${who}makes the window ${wide} columns wide and ${high} rows high`);
          person.resize(wide, high);
        },
        looks: () => within(`never still: ${called}`, person, (stuck) => photograph(person, stuck)),
        ends: () =>
          within(`never ended: ${called}`, person, async () => {
            const code = await person.ended;
            keep(person);
            written.push(`${who}exit ${code}`);
          }),
      };
    },
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
    },
  };
}

function firstOf(person: AtKeyboard, quietMs: number): Promise<'changed' | 'quiet'> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('quiet'), quietMs);
    void person.changes().then((how) => {
      clearTimeout(timer);
      resolve(how === 'ended' ? 'quiet' : 'changed');
    });
  });
}

/** A line in the rows that it took on the screen. */
function rowsOf(line: string, rows: readonly string[]): readonly string[] {
  let at = 0;
  return rows.map((row, index) => {
    at += row.length;
    return line.slice(at - row.length, index === rows.length - 1 ? undefined : at).trimEnd();
  });
}

const KNOWN_MIN = 4;

/** What stands at the top since the last picture is not written down again. */
function withoutKnown(lines: readonly string[], before: readonly string[]): readonly string[] {
  const known = lines.findIndex((line, index) => line !== before[index]);
  const count = known === -1 ? Math.min(lines.length, before.length) : known;
  return count < KNOWN_MIN ? lines : [`⋮ (${count} lines as before)`, ...lines.slice(count)];
}

const asTyped = (word: string): string => (/^[\w./:=@-]+$/.test(word) ? word : `"${word}"`);

const KEYS: Readonly<Record<string, string>> = {
  '\r': '⏎',
  '\t': 'Tab',
  '\u0003': 'Ctrl-C',
  '\u0004': 'Ctrl-D',
  '\u0015': 'Ctrl-U',
  '\u001a': 'Ctrl-Z',
};

/** Keys as a person names them. */
function keysText(keys: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are keys.
  return keys.replace(/[\u0000-\u001f]/g, (key) => ` ${KEYS[key] ?? JSON.stringify(key)} `).trim();
}
