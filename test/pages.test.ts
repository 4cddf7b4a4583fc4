/**
 * What the pages say about files, commands and formats: links lead somewhere, files that are named exist, commands are taken by
 * the real command line, and agents, settings, scripts and presets pass the real parsers.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { calcPrice } from '@pydantic/genai-prices';
import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkProject } from '../src/agents/check-project.ts';
import { readPresets } from '../src/agents/presets/file.ts';
import { readSquad } from '../src/agents/squad/read.ts';
import { createProgram } from '../src/cli/program/program.ts';
import { executorsFile } from '../src/executors/entry.ts';
import { defaultModels } from '../src/models/detect.ts';
import { script } from '../src/models/scripted/script-file.ts';
import { settingsSchema } from '../src/project/settings.ts';
import { parseSettings } from '../src/project/settings-file.ts';
import { evalSchema } from '../src/trials/eval-file.ts';
import { testSchema } from '../src/trials/test-file.ts';
import { temporaryProject } from './fixtures/agents/temporary-project.ts';
import { anchorsOf, type Block, codeIn, linksOf, pages, repository } from './support/pages.ts';
import { commandsIn, wordsOf } from './support/shell-lines.ts';
import { testTerminal } from './support/test-terminal.ts';

const byPath = new Map(pages.map((page) => [page.path, page]));
const blocks = pages.flatMap((page) => page.blocks);
const inLanguage = (...languages: readonly string[]): readonly Block[] =>
  blocks.filter(({ language }) => languages.includes(language));
const files = globSync('**', { cwd: repository, exclude: (name) => /^(node_modules|\.git|\.troupe|dist|results)$/.test(name) });

/** A page may name a file by its whole path, or by the end of it. */
const isThere = (page: string, name: string): boolean =>
  /[*{]/.test(name)
    ? globSync(name, { cwd: repository }).length > 0
    : existsSync(join(repository, name)) ||
      existsSync(join(repository, page, '..', name)) ||
      files.some((path) => path.endsWith(`/${name}`));

/** Files that a reader is told to make, or that stand for any. */
const examples = new Set(['x.ts', 'x.test.ts', 'first-ledger.ts', '**/*.ts']);
/** Files that a benchmark writes. */
const isResult = (name: string): boolean => name.startsWith('bench/results/');

describe('links', () => {
  const links = pages.flatMap(linksOf);

  it('lead to files that are there', () => {
    expect(links.length).toBeGreaterThan(200);
    expect(links.filter(({ file }) => !existsSync(join(repository, file))).map(({ page, file }) => `${page}: ${file}`)).toEqual(
      [],
    );
  });

  it('lead to headings that are there', () => {
    const lost = links.filter(({ file, anchor }) => {
      const page = byPath.get(file);
      return anchor !== undefined && (page === undefined || !anchorsOf(page).has(anchor));
    });
    expect(lost.map(({ page, file, anchor }) => `${page}: ${file}#${anchor}`)).toEqual([]);
  });

  it('lead from docs/README.md to every page, with the title of each decision', () => {
    const list = byPath.get('docs/README.md')?.text ?? '';
    const missing = pages.filter(
      ({ path }) => /^docs\/(?!README)[^/]+\.md$/.test(path) && !list.includes(`](${path.slice('docs/'.length)})`),
    );
    expect(missing.map(({ path }) => path)).toEqual([]);
    const decisions = pages.filter(({ path }) => path.startsWith('docs/decisions/'));
    expect(decisions.length).toBeGreaterThan(10);
    const rows = decisions.map(({ path, text }) => {
      const [, number = '', title = ''] = /^# (\d{4}): (.+)\n/.exec(text) ?? [];
      return `| [${number}](${path.slice('docs/'.length)}) | ${title} |`;
    });
    expect(rows.filter((row) => !list.includes(row))).toEqual([]);
  });
});

describe('files that a page names', () => {
  const named = pages
    .filter(({ path }) => path !== 'CHANGELOG.md')
    .flatMap((page) =>
      [
        ...codeIn(page),
        ...page.blocks.flatMap(({ text }) => text.match(/(?<![\w./-])(?:src|test|scripts|bench)\/[\w./-]+\w/g) ?? []),
      ]
        .filter((code) => /^[\w./*{},-]+\.(?:ts|mjs)$|^(?:src|test|docs|scripts|bench|deploy)\/[\w./*{},-]*$/.test(code))
        .filter((code) => !examples.has(code) && !isResult(code))
        .map((name) => ({ page: page.path, name })),
    );

  it('are there', () => {
    expect(named.length).toBeGreaterThan(150);
    expect(named.filter(({ page, name }) => !isThere(page, name)).map(({ page, name }) => `${page}: ${name}`)).toEqual([]);
  });
});

describe('commands that a page shows', () => {
  const shown = pages.flatMap((page) => [
    ...page.blocks.flatMap((block) => commandsIn(block.text).map((line) => ({ page: block.place, line, named: false }))),
    ...codeIn(page)
      .filter((code) => /^(?:\.\/)?troupe [a-z-]/.test(code) && !/[|[…]/.test(code))
      .map((line) => ({ page: page.path, line, named: true })),
  ]);
  /** In a sentence a command may be named without what it needs. */
  const isOnlyNamed = (error: unknown): boolean =>
    error instanceof CommanderError && /\.(?:missingArgument|optionMissingArgument|help|version)$/.test(error.code);

  /** What the command line says against it, or nothing. The command itself is not run. */
  async function refusal(line: string, named: boolean): Promise<string | undefined> {
    const terminal = testTerminal();
    let taken = false;
    const program = createProgram(terminal, () => async () => {
      taken = true;
    });
    const words = wordsOf(line).filter((word) => word !== '--help');
    return await program.parseAsync(words, { from: 'user' }).then(
      () => (taken ? undefined : 'it leads to no command'),
      (error: unknown) => (named && isOnlyNamed(error) ? undefined : String(error)),
    );
  }

  it('are taken by the command line', async () => {
    expect(shown.length).toBeGreaterThan(150);
    const refused = [];
    for (const { page, line, named } of shown) {
      const problem = await refusal(line, named);
      if (problem !== undefined) refused.push(`${page}: ${line}: ${problem}`);
    }
    expect(refused).toEqual([]);
  });
});

describe('models that a page names', () => {
  it('have a price of their own', () => {
    const named = new Set(
      pages.flatMap(({ text }) => text.match(/\b(?:anthropic|openai|google)\/(?:claude|gpt|gemini)-[\w.-]*\w/g) ?? []),
    );
    expect([...named]).toContain(defaultModels.anthropic);
    const unknown = [...named].filter((model) => {
      const [providerId = '', name = ''] = model.split('/');
      return calcPrice({ input_tokens: 1 }, name, { providerId })?.model.id !== name;
    });
    expect(unknown).toEqual([]);
  });
});

describe('what a user can say', () => {
  const all = pages.map(({ text }) => text).join('\n');
  const settings = byPath.get('docs/cli.md')?.text ?? '';

  interface Said {
    readonly command: string;
    readonly option: string | undefined;
  }

  function said(command: Command, path: readonly string[]): readonly Said[] {
    const name = path.join(' ');
    const own = command.options.map(({ long, short }) => ({ command: name, option: long ?? short }));
    const leaf = command.commands.length === 0 ? [{ command: name, option: undefined }] : [];
    return [...leaf, ...own, ...command.commands.flatMap((one) => said(one, [...path, one.name()]))];
  }

  it('is on a page: every command and every option', () => {
    const list = said(
      createProgram(testTerminal(), () => async () => undefined),
      ['troupe'],
    );
    expect(list.length).toBeGreaterThan(80);
    // A page about groups says `groups send`, and `pause`, `resume`, `stop` in one row.
    const isTold = (command: string): boolean =>
      all.includes(command) || new RegExp(`^\\| \`${command.split(' ')[1]} .*\\b${command.split(' ')[2]}\\b`, 'm').test(all);
    expect(list.filter(({ command, option }) => (option === undefined ? !isTold(command) : !all.includes(option)))).toEqual([]);
  });

  it('is on the page about the command line: every setting and every variable of ours', () => {
    expect(Object.keys(settingsSchema.shape).filter((key) => !new RegExp(`^${key}:`, 'm').test(settings))).toEqual([]);
    const sources = globSync('src/**/*.ts', { cwd: repository }).filter((path) => !path.endsWith('.test.ts'));
    const variables = sources.flatMap((path) => readFileSync(join(repository, path), 'utf8').match(/\bTROUPE_[A-Z_]+\b/g) ?? []);
    expect(variables.length).toBeGreaterThan(10);
    // The starter of a checkout tells the command line by this one what it was called as.
    const known = variables.filter((name) => name !== 'TROUPE_CALLED_AS');
    expect([...new Set(known)].filter((name) => !settings.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe('blocks of a format', () => {
  const settingsProblems = (text: string): readonly string[] => {
    const parsed = parseSettings('troupe.yaml', text, settingsSchema);
    return parsed.ok ? [] : parsed.error.map(({ message }) => message);
  };

  /** Whom an agent names is elsewhere; everything else has to be right. */
  async function agentProblems(file: string): Promise<readonly string[]> {
    await using project = await temporaryProject({ 'agents/shown.md': file });
    const { agents, diagnostics } = await checkProject({ projectRoot: project.root, mcpServers: ['files', 'github'] });
    const problems = diagnostics.map(({ message }) => message).filter((message) => !message.startsWith('there is no agent'));
    return agents.length === 1 || diagnostics.length > problems.length ? problems : ['no agent was found', ...problems];
  }

  async function yamlProblems({ text }: Block): Promise<readonly string[]> {
    const value: unknown = parse(text);
    const scripted = script.safeParse(value);
    if (Array.isArray(value) || scripted.success) return scripted.success ? [] : [scripted.error.message];
    const asSettings = settingsProblems(text);
    if (asSettings.length === 0 || executorsFile.safeParse(value).success) return [];
    if (testSchema.safeParse(value).success || evalSchema.safeParse(value).success) return [];
    const asAgent = await agentProblems(`---\n${text}---\nYou help.\n`);
    return asAgent.length === 0 ? [] : [`as settings: ${asSettings.join('; ')}`, `as an agent: ${asAgent.join('; ')}`];
  }

  it.each(inLanguage('yaml'))('$place: settings, an agent or a script', async (block) => {
    expect(await yamlProblems(block)).toEqual([]);
  });

  it.each(inLanguage('markdown'))('$place: an agent or a team', async ({ text }) => {
    if (text.startsWith('---\n')) return expect(await agentProblems(text)).toEqual([]);
    await using project = await temporaryProject({ '.squad/team.md': text });
    const { team } = await readSquad(project.root);
    return expect(team?.preset.workers.length).toBeGreaterThan(1);
  });

  it.each(inLanguage('json', 'jsonc'))('$place: JSON', ({ text }) => {
    const plain = text.replaceAll(/^\/\/.*\n/gm, '');
    for (const value of valuesIn(plain)) expect(() => JSON.parse(value)).not.toThrow();
  });

  it('has a preset that is read as it is', () => {
    const shown = inLanguage('json').filter(({ text }) => text.includes('"presets"'));
    expect(shown).toHaveLength(1);
    for (const { text } of shown) expect(readPresets(text)).toMatchObject({ ok: true, value: { warnings: [] } });
  });

  it('was looked at', () => {
    expect(inLanguage('yaml').length).toBeGreaterThan(15);
    expect(inLanguage('markdown').length).toBeGreaterThan(3);
    expect(inLanguage('json', 'jsonc').length).toBeGreaterThan(5);
  });
});

describe('programs that a page shows', () => {
  const imports = inLanguage('ts').flatMap(({ place, text }) =>
    [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '([^']+)';/gm)].flatMap(([, names = '', from = '']) =>
      names.split(',').map((name) => ({ place, name: name.trim().replace(/^type /, ''), from })),
    ),
  );
  /** `../support/world.ts` is a file whose path ends so; `troupe` is the package. */
  const sourceOf = (from: string): string | undefined => {
    const end = from.replace(/^(?:\.\.?\/)+/, '');
    const path = from === 'troupe' ? 'src/index.ts' : files.find((file) => file === end || file.endsWith(`/${end}`));
    return path === undefined ? undefined : readFileSync(join(repository, path), 'utf8');
  };

  it('import what there is', () => {
    const ours = imports.filter(({ from }) => from === 'troupe' || from.startsWith('.'));
    expect(ours.length).toBeGreaterThan(10);
    const missing = ours.filter(({ name, from }) => {
      const declared = `^export (?:async )?(?:const|function|class|interface|type) ${name}\\b`;
      const passedOn = `^export .*[{ ,]${name}[ ,}]|^  (?:type )?${name},$`;
      const exported = new RegExp(`${declared}|${passedOn}`, 'm');
      return !exported.test(sourceOf(from) ?? '');
    });
    expect(missing).toEqual([]);
  });
});

describe('the catalogue of races', () => {
  it('names tests that there are', () => {
    const [, catalogue = ''] = byPath.get('docs/testing.md')?.text.split('\n## The catalogue of races\n') ?? [];
    const rows = catalogue.split('\n').filter((line) => line.startsWith('|'));
    const named = rows.flatMap((row) =>
      [...(row.split('|').at(-2) ?? '').matchAll(/\*([^*]+)\*/g)].map((match) => match[1] ?? ''),
    );
    expect(named.length).toBeGreaterThan(40);
    const tests = globSync('{src,test}/**/*.ts', { cwd: repository }).map((path) => readFileSync(join(repository, path), 'utf8'));
    expect(named.filter((name) => !tests.some((text) => text.includes(name)))).toEqual([]);
  });
});

describe('the agent of the README', () => {
  it('is that of the first example, its prompt cut short', () => {
    const [shown] = byPath.get('README.md')?.blocks.filter(({ language }) => language === 'markdown') ?? [];
    const [frontmatter, prompt] = shown?.text.split('\n---\n') ?? [];
    const real = readFileSync(join(repository, 'examples/01-first-run/agents/fixer.md'), 'utf8');
    expect(real.startsWith(`${frontmatter}\n---\n${prompt?.replace(/\n…\n$/, '')}`)).toBe(true);
  });
});

/** Several values may follow one another, each beginning at the start of a line. */
function valuesIn(text: string): readonly string[] {
  return text.split(/\n(?=[{[])/).filter((value) => value.trim() !== '');
}
