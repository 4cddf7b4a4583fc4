/** Writes docs/json.md from the schemas of what commands print with `--json`. */
import { z } from 'zod';
import { jsonContract, jsonError } from '../src/cli/json/contract.ts';
import { answer, failure, report } from '../src/events/catalogue.ts';
import { groupMember, worktree, worktreeStrategy } from '../src/events/organisation.ts';
import { claim, verification } from '../src/events/verification.ts';
import { edge } from '../src/front/shapes/files.ts';
import { verifyReport } from '../src/front/shapes/keeping.ts';
import { cost, openWait, owner, runStanding, summaryOfRun, tokens, treeCall, treeRun, worth } from '../src/front/shapes/runs.ts';
import { listOf, optionalMark, typeTexts } from './type-text.ts';

/** Shapes with a name of their own. The order is that of the page. */
const shared = new Map<z.core.$ZodType, string>([
  [summaryOfRun, 'RunSummary'],
  [runStanding, 'Standing'],
  [openWait, 'OpenWait'],
  [treeRun, 'TreeRun'],
  [treeCall, 'TreeCall'],
  [tokens, 'Tokens'],
  [cost, 'Cost'],
  [worth, 'Worth'],
  [verification, 'Verification'],
  [claim, 'Claim'],
  [report, 'Report'],
  [failure, 'Failure'],
  [answer, 'Answer'],
  [owner, 'Owner'],
  [edge, 'Edge'],
  [verifyReport, 'VerifyReport'],
  [groupMember, 'GroupMember'],
  [worktree, 'Worktree'],
  [worktreeStrategy, 'WorktreeStrategy'],
]);

const { typeText, spelledOut } = typeTexts(shared);

/** What is said of a field stands at the field, whatever is wrapped around it. */
const meaningOf = (field: z.core.$ZodType): string => z.globalRegistry.get(field)?.description ?? '';

function lines(schema: z.core.$ZodType, depth: number): string {
  const known = depth === 0 ? undefined : shared.get(schema);
  if (known !== undefined) return known;
  if (schema instanceof z.ZodOptional) return lines(schema.def.innerType, depth);
  if (schema instanceof z.ZodNullable) return `${lines(schema.def.innerType, depth)} | null`;
  if (schema instanceof z.ZodArray) return listOf(lines(schema.def.element, depth === 0 ? 1 : depth));
  if (schema instanceof z.ZodUnion) return schema.def.options.map((option) => lines(option, Math.max(1, depth))).join(' | ');
  if (!(schema instanceof z.ZodObject)) return depth === 0 ? spelledOut(schema) : typeText(schema);
  return objectLines(schema, depth);
}

function objectLines(schema: z.ZodObject, depth: number): string {
  const indent = '  '.repeat(Math.max(1, depth));
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    const meaning = meaningOf(field);
    const note = meaning === '' ? '' : `  // ${meaning}`;
    return `${indent}${name}${optionalMark(field)}: ${lines(field, Math.max(1, depth) + 1)}${note}`;
  });
  const all = meaningOf(schema);
  const head = all === '' ? [] : [`${indent}// ${all}`];
  return ['{', ...fields, ...head, `${indent.slice(2)}}`].join('\n');
}

const block = (text: string): string => ['```text', text, '```'].join('\n');

/** Commands that print the same have one section. */
function sections(): readonly string[] {
  const bySchema = Map.groupBy(Object.entries(jsonContract), ([, schema]): z.core.$ZodType => schema);
  return [...bySchema].map(([schema, commands]) => {
    const names = commands.map(([name]) => `troupe ${name}`).join(', ');
    return [`### ${names}`, '', block(lines(schema, schema === summaryOfRun ? 1 : 0))].join('\n');
  });
}

const INTRODUCTION = `# What programs read

With \`--json\` a command prints one value on stdout, and nothing else there. This page is written from the schemas in
\`src/front/shapes\` by \`npm run fix\`; a test fails when it is not current, and tests hold what the commands print against
the schemas, field by field. Fields may be added, never changed or taken away: a reader must accept fields that it does not know.

- A field marked \`?\` may be absent. Times are milliseconds since 1970 as numbers, ISO 8601 in UTC as texts.
- \`Standing\` is how a run stands, with the same word for the same run in every command. \`interrupted\` has no process that drives
  it, and nobody in it or below it asks anything: with a question it is \`waiting\`. \`lost\` is driven by another process from now on.
- A run that failed is a value like any other: its \`status\` and \`error\` say so, and so does the [exit code](cli.md).
- \`--jsonl\`, where a command has it, prints [events](events.md), a line for each, and a failure as the last line.

## Failures

When a command fails, this is printed instead, also when the command line itself is wrong. The exit code is not 0.
`;

export function jsonPage(): string {
  const shapes = [...shared].map(([schema, name]) => [`### ${name}`, '', block(lines(schema, 0))].join('\n'));
  const head = `${INTRODUCTION}\n${block(lines(jsonError, 0))}`;
  return `${[head, '## Commands', ...sections(), '## Shapes', ...shapes].join('\n\n')}\n`;
}
