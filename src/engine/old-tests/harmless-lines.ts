/**
 * Lines that may be added to an old test without making it prove less: whole new tests and helpers, imports, comments, single
 * assertions, as long as they give no new meaning to a name that the old lines use, and change nothing that others see.
 * Whatever is not recognised is not harmless.
 */

const INDENT = /^\s*/;
const PYTHON = /\.pyi?$/;
const WITHOUT_BRACKETS = /\.(?:py|rb|exs?)$/;

/** What begins a test; nothing is bound by it. */
const TEST_START: readonly RegExp[] = [
  /^(?:await )?(?:require\("node:test"\)\.)?(?:[\w$]+\.)?(?:test|it|describe|suite|context|specify)(?:\.\w+)*\s*[(`"]/,
  /^(?!before|after|setup|teardown)[\w$]+\("[^"]*", (?:async )?(?:\(|function\b|[\w$]+ =>)/,
];
/** What begins something with a name. */
const NAMED_START: readonly RegExp[] = [
  /^(?:export )?(?:default )?(?:async )?function\*? ([\w$]+)/,
  /^(?:export )?(?:const|let|var|class|interface|type|enum) ([\w$]+)/,
  /^(?:module\.)?exports\.([\w$]+) = /,
  /^(?:async )?def (\w+)/,
  /^func (?:\([^)]*\) )?(\w+)/,
  /^(?:pub )?(?:async )?fn (\w+)/,
  /^(?:(?:public|private|protected|internal|static|final|async|suspend|override|open|fun|function|void|Task|Unit) )+(\w+)\s*\(/,
];
const PYTHON_CONSTANT = /^([A-Za-z_]\w*)(?:: [^=]+)? = /;
const CLOSES = /^(?:[)\]}]|end\b)/;
const ATTRIBUTE = /^(?:@[\w.]+|#\[[^\]]*\]$|\[\w+(?:\(.*\))?\]$)/;
const COMMENT = /^(?:\/\/|#(?![[!]))/;
const ASSERTION =
  /^(?:await )?(?:assert(?:\.\w+)*|expect(?:\.\w+)?|self\.assert\w+|t\.assert\.\w+)\(.*\)[\w.()]*;?$|^assert [^;]+$/;

const IMPORTS: readonly RegExp[] = [
  /^import (?:type )?([\w$*{} ,]+?) from "([^"]+)";?$/,
  /^(?:const|let|var) ([\w$]+|\{[\w$ ,:]*\}) = require\("([^"]+)"\)(?:\.\w+)?;?$/,
  /^from ([\w.]+) import ([\w ,]+)$/,
  /^import ([\w., ]+)$/,
  /^use ([\w:{} ,*]+);$/,
];

export interface ImportLine {
  readonly module: string;
  /** What it binds, each with what it stands for: `add as sum`. */
  readonly names: readonly string[];
}

/** A line that imports and does nothing else. */
export function importLine(text: string): ImportLine | undefined {
  const line = bareLine(text);
  for (const [index, pattern] of IMPORTS.entries()) {
    const found = pattern.exec(line);
    if (found === null) continue;
    const [, first = '', second = ''] = found;
    const [module, names] = index < 2 ? [second, first] : index === 2 ? [first, second] : ['', first];
    return {
      module,
      names: names
        .split(/[{},]/)
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    };
  }
  return undefined;
}

const EXPORTED = /^(?:module\.exports = |export )\{([\w$ ,]*)\}$/;

/** The names that a line exports and does nothing else, where they are called as they are. */
export function exportedNames(text: string): readonly string[] | undefined {
  return EXPORTED.exec(bareLine(text))?.[1]
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

const boundBy = (name: string): string => /([\w$]+)$/.exec(name)?.[1] ?? name;

/** Without indentation, quotes of one kind and what ends a line: a formatter's work is no change. */
export function bareLine(line: string): string {
  return line
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll("'", '"')
    .replace(/[;,]+$/, '');
}

export interface Surroundings {
  readonly path: string;
  /** The lines that were not added. */
  readonly rest: string;
  /** All lines that were added. */
  readonly added: string;
}

/** The first line that is not harmless, if there is one. `run`: lines that follow one another. */
export function harmfulLine(run: readonly string[], around: Surroundings): string | undefined {
  for (let at = 0; at < run.length; ) {
    const line = (run[at] ?? '').trim();
    const length = harmlessLength(run.slice(at), line, around);
    if (length === 0) return line;
    at += length;
  }
  return run.find((line) => meddles(line, around));
}

/** How many lines a harmless thing takes that begins here; none where it is not one. */
function harmlessLength(lines: readonly string[], line: string, around: Surroundings): number {
  if (COMMENT.test(line) || ATTRIBUTE.test(line) || isAssertion(line)) return 1;
  if (line.startsWith('/*')) return lines.findIndex((one) => /\*\/\s*$/.test(one)) + 1;
  const imported = importLine(line);
  if (imported !== undefined) return imported.names.some((name) => isUsed(boundBy(name), around.rest)) ? 0 : 1;
  const bare = bareLine(line);
  const name =
    NAMED_START.map((start) => start.exec(bare)?.[1]).find((one) => one !== undefined) ?? constantOf(bare, around.path);
  const isTest = name === undefined && TEST_START.some((start) => start.test(bare));
  if (!isTest && (name === undefined || isUsed(name, around.rest))) return 0;
  const length = blockLength(lines);
  return WITHOUT_BRACKETS.test(around.path) || isBalanced(lines.slice(0, length).join('\n')) ? length : 0;
}

const constantOf = (line: string, path: string): string | undefined =>
  PYTHON.test(path) ? PYTHON_CONSTANT.exec(line)?.[1] : undefined;

const isUsed = (name: string, text: string): boolean =>
  new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(text);

function isAssertion(line: string): boolean {
  const bare = bareLine(line);
  return ASSERTION.test(bare) && !/[;]|\?\.|(?<![=!<>])=(?![=>])/.test(withoutStrings(bare));
}

/** What is indented further belongs to it, and what closes it. */
function blockLength(lines: readonly string[]): number {
  const depth = indentOf(lines[0] ?? '');
  let length = 1;
  for (; length < lines.length; length += 1) {
    const line = lines[length] ?? '';
    if (line.trim() !== '' && indentOf(line) <= depth && !(indentOf(line) === depth && CLOSES.test(line.trim()))) break;
  }
  return length;
}

const indentOf = (line: string): number => INDENT.exec(line)?.[0].length ?? 0;

const OPENS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

function isBalanced(text: string): boolean {
  const open: string[] = [];
  const plain = withoutStrings(text);
  if (/\/\*|`|"""/.test(plain)) return false;
  for (const sign of plain) {
    if ('([{'.includes(sign)) open.push(sign);
    else if (sign in OPENS && open.pop() !== OPENS[sign]) return false;
  }
  return open.length === 0;
}

/** Texts and comments hold brackets that mean nothing. */
function withoutStrings(text: string): string {
  return text.replaceAll(
    /\/\*[\s\S]*?\*\/|"""[\s\S]*?"""|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<=[(,=:[!&|?\s])\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/|(?<![:\w])\/\/[^\n]*/g,
    '""',
  );
}

const CHANGES_MEMBER = /(?<![\w$.])([A-Za-z_$][\w$]*)(?:\.[\w$]+|\[[^\]]*\])+\s*(?:\*\*|[-+*/|&^%]|\?\?|\|\||&&)?=(?![=>])/;
const CHANGES_NAME = /^\s*([A-Za-z_$][\w$]*) = /;
const CHANGES_OBJECT =
  /\b(?:Object\.(?:assign|defineProperty|defineProperties|setPrototypeOf)|Reflect\.\w+|setattr|delattr)\(\s*([\w$]+)/;
const CHANGES_ALL =
  /require\.cache|sys\.modules|\b(?:jest|vi)\.(?:mock|doMock|unstable_mockModule)\(|\bmock\.module\(|^\s*(?:global|nonlocal|del) |\b__\w+__\s*=/;
/** `require("node:assert").equal = …` */
const CHANGES_MODULE =
  /\b(?:require|import|getBuiltinModule|getPrototypeOf|import_module)\s*\([^)]*\)+(?:\.[\w$]+|\[[^\]]*\])+\s*=(?![=>])/;
const EXPORTS_ONE = /^\s*(?:module\.)?exports\.([\w$]+) = (?!.*\w\s*=(?![=>]))/;
const OWN = new Set(['this', 'self', 'cls']);

/** It changes something that others see: a module, a global, a variable of the old lines. */
function meddles(text: string, { path, rest, added }: Surroundings): boolean {
  const line = withoutStrings(text);
  if (CHANGES_ALL.test(line) || CHANGES_MODULE.test(line)) return true;
  const exported = EXPORTS_ONE.exec(line)?.[1];
  if (exported !== undefined) return isUsed(exported, rest);
  const plain = PYTHON.test(path) ? undefined : CHANGES_NAME.exec(line)?.[1];
  const root = CHANGES_MEMBER.exec(line)?.[1] ?? CHANGES_OBJECT.exec(line)?.[1] ?? plain;
  if (root === undefined || OWN.has(root) || /\bprocess\.env\b/.test(line)) return false;
  return !isOwn(root, { path, rest, added });
}

/** An object that the added lines have made: not one that was brought in, or an old one under a new name. */
function isOwn(name: string, { path, rest, added }: Surroundings): boolean {
  const escaped = name.replaceAll('$', '\\$');
  const declared = `\\b(?:const|let|var|for|with|as|def test\\w*\\([^)]*)\\b[^=\\n]*\\b${escaped}\\b`;
  const all = new RegExp(PYTHON.test(path) ? `${declared}|^\\s*${escaped} =` : declared);
  const places = added.split('\n').filter((line) => all.test(withoutStrings(line)));
  const others = new Set([...broughtIn(added), ...broughtIn(rest), ...namesOfOld(rest)]);
  return places.length > 0 && !others.has(name) && !places.some((line) => isAlias(line, others));
}

/** Of a new test that runs in one process with the old ones: a line that changes what it has brought in changes it for them. */
export function patchedModule(text: string): string | undefined {
  const others = new Set(broughtIn(text));
  return text.split('\n').find((one) => {
    const line = withoutStrings(one);
    const root = CHANGES_MEMBER.exec(line)?.[1] ?? CHANGES_OBJECT.exec(line)?.[1];
    return CHANGES_MODULE.test(line) || /require\.cache|sys\.modules/.test(line) || (root !== undefined && others.has(root));
  });
}

const broughtIn = (text: string): string[] =>
  text.split('\n').flatMap((line) => importLine(line.trim())?.names.map(boundBy) ?? []);

const namesOfOld = (rest: string): string[] =>
  rest.split('\n').flatMap((line) => NAMED_START.flatMap((start) => start.exec(bareLine(line))?.[1] ?? []));

/** What it is made of is somebody else's, as it is: not called, copied, or asked for a member that is called. */
function isAlias(line: string, others: ReadonlySet<string>): boolean {
  const [, value = ''] = /(?:(?<![=!<>])=(?![=>])|\bof\b)([\s\S]*)$/.exec(withoutStrings(line)) ?? [];
  if (/(?<![\w$.])(?:require|import)\s*\((?![^)]*\)\s*(?:\.[\w$]+\s*)*\()/.test(value)) return true;
  const kept = value.replaceAll(/\.\.\.\s*[\w$.]+|(?<![\w$.])[\w$]+(?:\.[\w$]+)*\s*(?=[(`])|\.[\w$]+|[\w$]+\s*:(?!:)/g, ' ');
  return kept.split(/[^\w$]+/).some((word) => others.has(word));
}
