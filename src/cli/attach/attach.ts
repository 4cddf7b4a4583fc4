/** `troupe attach`: the whole screen for one run, whoever works on it: its tree, its words, its questions, and a line to it. */
import { shortId } from '../../base/ids.ts';
import { rootOf } from '../../engine/record/root-of.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, callOf, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { type Attachment, createAttachment } from './attachment.ts';
import { createKeys, type Keys } from './keys.ts';
import { createTakeUp } from './take-up.ts';

export async function attachCommand(context: CommandContext, text = 'last'): Promise<ExitCode> {
  const { terminal } = context;
  if (!terminal.interactive || !terminal.out.isTty)
    throw usageError('attach needs a terminal', `elsewhere: ${callOf(context)} logs -f ${text}`);
  return withProject(context, {}, async (project) => {
    const row = await findRun(project.ledger, text);
    const root = await rootOf(project.ledger, row);
    const attachment = createAttachment(context, project, root, row.run);
    const takeUp = createTakeUp(attachment);
    const keys = createKeys(attachment, takeUp);
    const release = takeScreen(attachment, keys);
    const code = await attachment.left.finally(() => {
      attachment.stop();
      release();
    });
    const call = callOf(context);
    const id = shortId(root.run);
    if (takeUp.works) {
      terminal.progress.prose(`stopping; what is done is kept. Go on with: ${call} resume ${id}`);
      await project.engine.close();
    } else if (attachment.state.driver.by !== 'ended')
      terminal.progress.line(`left ${id} as it is. Back with: ${call} attach ${id}`);
    return code;
  });
}

/** The screen and the keyboard, until the returned function is called. */
function takeScreen(attachment: Attachment, keys: Keys): () => void {
  const { terminal } = attachment.context;
  const { fullScreen, keyboard } = terminal;
  let leaving = false;
  fullScreen.enter();
  const ends = [
    keyboard.hush(),
    fullScreen.onKey(keys.press),
    keyboard.onPause(fullScreen.leave, () => {
      fullScreen.enter();
      attachment.redraw();
    }),
  ];
  const stopListening = terminal.onStop((signal) => {
    if (leaving) terminal.exitNow(exitCodes.interrupted);
    else if (signal === 'SIGINT') keys.wantToLeave();
    else {
      leaving = true;
      attachment.leave(exitCodes.interrupted);
    }
  });
  attachment.onWaits(keys.waitsChanged);
  attachment.redraw();
  attachment.reread();
  return () => {
    for (const end of ends) end();
    fullScreen.leave();
    stopListening();
  };
}
