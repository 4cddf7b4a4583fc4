/** `troupe groups …` with its words, options and examples. */
import { type Command, Option } from 'commander';
import type { CreateOptions, DeleteOptions, MoveOptions, SaveOptions } from '../commands/groups.ts';
import type { SendOptions, StopOptions } from '../commands/groups-send.ts';
import type { OutputOptions } from '../drive/finish-run.ts';
import type { JsonOption, Perform } from '../terminal/command.ts';
import { type Add, addTo, json, output } from './describe.ts';

export function describeGroups(groups: Command, perform: Perform): void {
  const add: Add = (usage, about, example) => addTo(groups, usage, about, example);
  describeKeeping(add, perform);
  describeTalking(add, perform);
}

function describeKeeping(add: (usage: string, about: string, example: string) => Command, perform: Perform): void {
  json(
    add(
      'create <name>',
      'keep a group to talk to; without agents it is a folder',
      'troupe groups create review --preset pr-review-squad',
    ),
  )
    .option('--preset <name>', 'make it from a preset')
    .option('--agent <agent>', 'make it from an agent that declares a group, by name or file')
    .addOption(new Option('--worktrees <strategy>', 'where its workers work').choices(['shared', 'group', 'isolated']))
    .option('--folder <name>', 'put it into this folder')
    .action((name: string, options: CreateOptions) =>
      perform(async (context) => (await import('../commands/groups.ts')).groupsCreateCommand(context, name, options)),
    );
  json(add('list', 'every group, and what it is doing', 'troupe groups list')).action((options: JsonOption) =>
    perform(async (context) => (await import('../commands/groups.ts')).groupsListCommand(context, options)),
  );
  json(add('show <name>', 'members, folders, what waits and what was done', 'troupe groups show review')).action(
    (name: string, options: JsonOption) =>
      perform(async (context) => (await import('../commands/groups.ts')).groupsShowCommand(context, name, options)),
  );
  json(add('rename <name> <new-name>', 'give a group or folder another name', 'troupe groups rename review "PR review"')).action(
    (name: string, newName: string, options: JsonOption) =>
      perform(async (context) => (await import('../commands/groups.ts')).groupsRenameCommand(context, name, newName, options)),
  );
  json(
    add(
      'move <what> [folder]',
      'move a group or session to a folder, pin it, or order it',
      'troupe groups move review work --pin',
    ),
  )
    .option('--pin', 'list it first')
    .option('--unpin', 'no longer')
    .option('--order <number>', 'its place among the others: smaller is earlier', Number)
    .action((what: string, folder: string | undefined, options: MoveOptions) =>
      perform(async (context) => (await import('../commands/groups.ts')).groupsMoveCommand(context, what, folder, options)),
    );
  json(add('delete <name>', 'close a group and its members for good, or remove a folder', 'troupe groups delete review'))
    .option('--force', 'also when a worktree holds changes that are not committed')
    .action((name: string, options: DeleteOptions) =>
      perform(async (context) => (await import('../commands/groups.ts')).groupsDeleteCommand(context, name, options)),
    );
  json(add('save <name>', 'keep a group as a preset to make others from', 'troupe groups save review --as "My review"'))
    .option('--as <name>', 'the name of the preset')
    .option('--squad', 'as a Squad team in the repository, for everybody who works on it')
    .action((name: string, options: SaveOptions) =>
      perform(async (context) => (await import('../commands/groups.ts')).groupsSaveCommand(context, name, options)),
    );
}

function describeTalking(add: (usage: string, about: string, example: string) => Command, perform: Perform): void {
  output(
    add(
      'send <name> [prompt]',
      'give a group a prompt; it waits its turn when the group is busy',
      'troupe groups send review "Look at #12"',
    ),
  )
    .option('--member <name>', 'only to this worker, in its own conversation')
    .option('-m, --model <name>', 'use this model, whatever the agents name')
    .option('-y, --yes', 'give every permission that is asked for')
    .action((name: string, prompt: string | undefined, options: SendOptions) =>
      perform(async (context) => (await import('../commands/groups-send.ts')).groupsSendCommand(context, name, prompt, options)),
    );
  json(add('pause <name>', 'stop a group after what is under way', 'troupe groups pause review')).action(
    (name: string, options: JsonOption) =>
      perform(async (context) =>
        (await import('../commands/groups-send.ts')).groupsSignalCommand(context, 'pause', name, options),
      ),
  );
  output(
    add('resume <name>', 'go on with a group that was paused or cut off, and with what waits', 'troupe groups resume review'),
  )
    .option('-y, --yes', 'give every permission that is asked for')
    .action((name: string, options: OutputOptions & { readonly yes?: boolean }) =>
      perform(async (context) => (await import('../commands/groups-send.ts')).groupsResumeCommand(context, name, options)),
    );
  json(add('stop <name>', 'end what a group works on', 'troupe groups stop review'))
    .option('--all', 'and drop the prompts that wait')
    .action((name: string, options: StopOptions) =>
      perform(async (context) =>
        (await import('../commands/groups-send.ts')).groupsSignalCommand(context, 'cancel', name, options),
      ),
    );
}
