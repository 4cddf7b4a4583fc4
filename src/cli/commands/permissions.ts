/** `troupe permissions`: every rule that holds here, with where it stands; and takes back what was remembered. */

import { dirname, sep } from 'node:path';
import { type SessionId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { judgedLine } from '../../base/visible-text.ts';
import { counted } from '../../base/wording.ts';
import { forgetInProject, type ListedRule, listRules } from '../../front/project/rules.ts';
import { personHere } from '../../library/person-here.ts';
import { type RememberedRule, readRule, writtenRule } from '../../permissions/remembered-rule.ts';
import { createRuleBook } from '../../project/rule-book.ts';
import { readAgentFiles, settingsOf } from '../agents/files.ts';
import { findRun } from '../drive/find-run.ts';
import { sessionRulesOf } from '../drive/session-rules.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

export async function permissionsCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const config = await settingsOf(context);
  const { agents } = await readAgentFiles(context);
  const book = createRuleBook(config.root, context.terminal.env);
  const ofSessions = await sessionRulesOf(context);
  const rules = listRules({ config, agents, book, sessions: ofSessions.rules });
  const { out, progress, env } = context.terminal;
  if (options.json) printJson(context, 'permissions list', { rules, sessionsLeftOut: ofSessions.leftOut });
  else if (rules.length === 0) progress.line('no rules: every tool goes by its default');
  else
    printTable(
      out,
      ['OF', 'TOOL', 'RULE', 'IS', 'FILE'],
      rules.map((rule) => cells(rule, env['HOME'])),
    );
  if (ofSessions.leftOut > 0 && !options.json)
    progress.prose(
      `what was remembered for a session: of the newest ${limits.permissionSessions} (permissionSessions), ${ofSessions.leftOut} more not looked at`,
    );
  return exitCodes.completed;
}

function cells(rule: ListedRule, home: string | undefined): readonly string[] {
  const { tool, pattern = '', permission } = rule;
  return [ofWhat(rule), tool, judgedLine(pattern), permission, whereOf(rule, home)].map(safeText);
}

/** Of what was remembered the folder for all projects: that of this one is named after a checksum. `--json` has it whole. */
function whereOf(rule: ListedRule, home: string | undefined): string {
  if (rule.from === 'session') return 'the ledger';
  if (rule.from !== 'remembered') return rule.file;
  const folder = dirname(rule.file);
  return home !== undefined && home !== '' && folder.startsWith(`${home}${sep}`) ? `~${folder.slice(home.length)}` : folder;
}

function ofWhat(rule: ListedRule): string {
  if (rule.from === 'session') return `session ${shortId(rule.session)}`;
  return rule.from === 'agent' ? rule.agent : rule.from;
}

export interface RemoveRuleOptions extends JsonOption {
  readonly all?: boolean | undefined;
  readonly session?: string | undefined;
}

export async function removeRuleCommand(
  context: CommandContext,
  tool: string | undefined,
  pattern: string | undefined,
  options: RemoveRuleOptions,
): Promise<ExitCode> {
  if (tool === undefined && options.all !== true)
    throw usageError('Which rule?', 'name its tool and what of it, as `troupe permissions` shows them, or --all');
  const rule = tool === undefined ? undefined : { tool, pattern };
  const { session } = options;
  const removed =
    session === undefined ? await removeFromProject(context, rule) : await removeFromSession(context, session, rule);
  if (removed.rules.length === 0 && options.all !== true)
    throw usageError(
      'No such rule is remembered',
      'see what is: troupe permissions. One of a session needs --session <id>; rules in files are changed there.',
    );
  if (options.json)
    printJson(context, 'permissions remove', { removed: removed.rules, ...present({ session: removed.session }) });
  else {
    context.terminal.out.line(`removed ${counted(removed.rules.length, 'rule')}`);
    if (session === undefined) await sayStillRemembered(context, rule);
  }
  return exitCodes.completed;
}

const SESSIONS_SHOWN = 5;

/** What was said for the project was said in a session, too, and holds there until it is taken back there. */
async function sayStillRemembered(context: CommandContext, rule: RememberedRule | undefined): Promise<void> {
  const { rules } = await sessionRulesOf(context);
  const same = rules.filter((one) => rule === undefined || (one.tool === rule.tool && one.pattern === rule.pattern));
  const sessions = [...new Set(same.map((one) => shortId(one.session)))];
  if (sessions.length === 0) return;
  const { progress } = context.terminal;
  const what =
    rule === undefined ? '--all' : [rule.tool, ...(rule.pattern === undefined ? [] : [JSON.stringify(rule.pattern)])].join(' ');
  progress.line(`still remembered for ${counted(sessions.length, 'session')}, to take back there:`);
  for (const id of sessions.slice(0, SESSIONS_SHOWN))
    progress.line(`  ${callOf(context)} permissions remove ${safeLine(what)} --session ${id}`);
  if (sessions.length > SESSIONS_SHOWN) progress.line(`  and ${sessions.length - SESSIONS_SHOWN} more sessions`);
}

interface Removed {
  readonly rules: readonly RememberedRule[];
  readonly session?: SessionId;
}

/** All of them without one. */
async function removeFromProject(context: CommandContext, rule: RememberedRule | undefined): Promise<Removed> {
  const { root } = await settingsOf(context);
  return { rules: await forgetInProject(createRuleBook(root, context.terminal.env), rule) };
}

async function removeFromSession(context: CommandContext, text: string, rule: RememberedRule | undefined): Promise<Removed> {
  return await withProject(context, {}, async ({ ledger, engine }) => {
    const { session } = await findRun(ledger, text);
    const by = { by: personHere(), where: 'command' } as const;
    const outcome = await engine.forget(session, rule && writtenRule(rule), by);
    return { rules: outcome.kind === 'unknown' ? [] : outcome.rules.map(readRule), session };
  });
}
