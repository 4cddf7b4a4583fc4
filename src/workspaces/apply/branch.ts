/** The result of a run as one commit on a new branch, on top of what is checked out. Nobody's files are involved. */
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { askGit } from '../git.ts';
import type { WorkspaceOptions } from '../options.ts';
import { gitFailure, type PrivateGit, said } from '../private-git.ts';
import { withoutNewline } from '../repository.ts';
import { bringObjects } from '../trees.ts';

interface WantedBranch {
  readonly name: string;
  readonly tree: string;
  readonly run: string;
}

/** The commit is there, and no branch yet: `create` makes it, unless somebody else has meanwhile. */
export async function commitOnBranch(
  options: WorkspaceOptions,
  git: PrivateGit,
  { name, tree, run }: WantedBranch,
): Promise<Result<{ readonly commit: string; create(): Promise<Result<void, Failure>> }, Failure>> {
  const { top, head = '' } = git.repository;
  const call = { folder: top, environment: options.environment };
  if (name.startsWith('-') || !(await askGit(['check-ref-format', '--branch', name], call)).ok)
    return fail({ code: 'bad_name', message: `${JSON.stringify(name)} cannot be the name of a branch.` });
  if ((await askGit(['rev-parse', '--verify', '--quiet', `refs/heads/${name}`], call)).ok) return fail(taken(name));
  const brought = await bringObjects(git, tree);
  if (!brought.ok) return brought;
  const commit = await commitAs(options, git, tree, head, run);
  if (!commit.ok) return commit;
  return ok({
    commit: commit.value,
    create: async () => {
      // Only where there is none: the empty name stands for that.
      const made = await askGit(['update-ref', `refs/heads/${name}`, commit.value, ''], call);
      if (made.ok) return ok(undefined);
      return fail(made.error.says.includes('already exists') ? taken(name) : gitFailure('The branch cannot be made', made.error));
    },
  });
}

const taken = (name: string): Failure => ({
  code: 'branch_taken',
  message: `There is a branch ${name} already.`,
  fix: 'Name another one, or delete it.',
});

/** By whoever the repository says commits here. */
async function commitAs(
  { environment, clock }: WorkspaceOptions,
  git: PrivateGit,
  tree: string,
  parent: string,
  run: string,
): Promise<Result<string, Failure>> {
  const call = { folder: git.repository.top, environment };
  const [name, email] = await Promise.all([
    askGit(['config', '--get', 'user.name'], call),
    askGit(['config', '--get', 'user.email'], call),
  ]);
  const who = {
    NAME: name.ok ? withoutNewline(name.value) : 'troupe',
    EMAIL: email.ok ? withoutNewline(email.value) : 'troupe@localhost',
    DATE: `@${Math.floor(clock.now() / 1_000)} +0000`,
  };
  const variables = Object.fromEntries(
    Object.entries(who).flatMap(
      ([key, value]) =>
        [
          [`GIT_AUTHOR_${key}`, value],
          [`GIT_COMMITTER_${key}`, value],
        ] as const,
    ),
  );
  const message = `The result of ${run}`;
  return said(
    await git.run(['commit-tree', tree, '-p', parent, '-m', message], { ...present({ variables }), keep: true }),
    'The commit cannot be made',
  );
}

/** Only while it points to what was made, and nobody works on it. Again, it does nothing. */
export async function deleteBranch(
  { environment }: WorkspaceOptions,
  repo: string,
  { name, commit }: { readonly name: string; readonly commit: string },
): Promise<Result<void, Failure>> {
  const call = { folder: repo, environment };
  const at = await askGit(['rev-parse', '--verify', '--quiet', `refs/heads/${name}`], call);
  if (!at.ok) return ok(undefined);
  const listed = await askGit(['worktree', 'list', '--porcelain'], call);
  const busy = listed.ok && listed.value.toString().split('\n').includes(`branch refs/heads/${name}`);
  if (withoutNewline(at.value) === commit && !busy) {
    const gone = await askGit(['update-ref', '-d', `refs/heads/${name}`, commit], call);
    return gone.ok ? ok(undefined) : fail(gitFailure('The branch cannot be deleted', gone.error));
  }
  const why = busy ? 'is checked out' : 'has other commits by now';
  return fail({ code: 'changed_since', message: `The branch ${name} ${why}.`, fix: 'Delete it yourself if it is to go.' });
}
