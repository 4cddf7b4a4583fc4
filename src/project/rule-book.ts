/**
 * What somebody said "always" to for a whole project. It is kept in the user's own folder, one file for each rule: not in the
 * project, which may be a stranger's, and where agents' tools cannot write.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../base/environment.ts';
import { messageOf } from '../base/errors.ts';
import { isJsonObject, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Engine } from '../engine/port.ts';
import { type RememberedRule, readRule, writtenRule } from '../permissions/remembered-rule.ts';
import { userFolder } from './config.ts';

export interface RuleBook {
  /** Where the rules of this project are. */
  readonly folder: string;
  /** As they are now, also those that another process has added. */
  rules(): readonly RememberedRule[];
  add(rule: RememberedRule): Promise<Result<void, string>>;
  remove(rule: RememberedRule): Promise<void>;
}

export function createRuleBook(root: string, env: Environment): RuleBook {
  const folder = join(userFolder(env), 'remembered', hashOf(root).slice(0, 32));
  const fileOf = (rule: RememberedRule): string => join(folder, `${hashOf(writtenRule(rule))}.json`);
  let known: { readonly stamp: string; readonly rules: readonly RememberedRule[] } | undefined;
  return {
    folder,
    rules() {
      // A name is the checksum of what is in the file: the same names are the same rules.
      const names = namesIn(folder);
      const stamp = names.join();
      if (known?.stamp !== stamp) known = { stamp, rules: names.flatMap((name) => ruleIn(join(folder, name), root)) };
      return known.rules;
    },
    async add(rule) {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        if (namesIn(folder).length >= limits.rememberedRules)
          return fail(`there are ${limits.rememberedRules} rules already (rememberedRules)`);
        await writeFile(fileOf(rule), `${JSON.stringify({ project: root, ...rule }, null, 2)}\n`, { mode: 0o600 });
        return ok(undefined);
      } catch (error) {
        return fail(messageOf(error));
      }
    },
    async remove(rule) {
      await rm(fileOf(rule), { force: true });
    },
  };
}

/** Writes down what is said for the whole project, once it counts. */
export function withRuleBook(engine: Engine, book: RuleBook): Engine {
  return {
    ...engine,
    async answer(run, wait, answer, answering) {
      const isForProject = answer.kind === 'approved' && answer.scope === 'project' && answer.input === undefined;
      const asked = isForProject ? (await engine.waits(run)).find((one) => one.run === run && one.wait === wait) : undefined;
      const outcome = await engine.answer(run, wait, answer, answering);
      const rule = asked?.kind === 'permission' ? asked.rule : undefined;
      // What is protected stays a question of its own in every session.
      if (outcome.kind === 'accepted' && rule !== undefined && !rule.startsWith('protected')) await book.add(readRule(rule));
      return outcome;
    },
  };
}

function namesIn(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().slice(0, limits.rememberedRules);
}

/** A file that is not one of ours, or not whole, allows nothing. */
function ruleIn(path: string, root: string): readonly RememberedRule[] {
  try {
    const parsed = parseJson(readFileSync(path, 'utf8'));
    if (!parsed.ok || !isJsonObject(parsed.value) || parsed.value['project'] !== root) return [];
    const { tool, pattern } = parsed.value;
    if (typeof tool !== 'string' || (pattern !== undefined && typeof pattern !== 'string')) return [];
    return [{ tool, ...present({ pattern }) }];
  } catch {
    return [];
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
