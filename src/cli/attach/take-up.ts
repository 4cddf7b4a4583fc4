/** Working on the run here: when nobody else does, and somebody who looks at it asks for it. */
import { unreachable } from '../../base/errors.ts';
import type { LivePiece, ResumeOutcome, RunEnd, RunHandle } from '../../engine/port.ts';
import { type HeardPieces, hear } from '../../library/hear.ts';
import type { Attachment } from './attachment.ts';

export interface TakeUp {
  begin(): Promise<void>;
  /** It goes on here, or did until it had to wait for an answer. */
  readonly ours: boolean;
  /** Whether leaving would stop it. */
  readonly works: boolean;
}

export function createTakeUp(attachment: Attachment): TakeUp {
  const { project, root, words } = attachment;
  let handle: RunHandle | undefined;
  let ours = false;
  const show = (piece: LivePiece): void => {
    words.piece(piece);
    if (piece.delta.type === 'text' && piece.run === attachment.state.selected) attachment.reread();
  };
  const drive = async (driven: RunHandle, heard: HeardPieces): Promise<void> => {
    const unwatch = heard.to(show);
    handle = driven;
    ours = true;
    // On a cluster others work on it: it is only followed from here.
    if (project.config.cluster === undefined) attachment.worksHere(true);
    const end = await driven.done;
    handle = undefined;
    unwatch();
    attachment.worksHere(false);
    attachment.change({ notice: endText(end) });
    await attachment.lookAround();
  };
  return {
    get ours() {
      return ours;
    },
    get works() {
      return handle !== undefined && project.config.cluster === undefined;
    },
    async begin() {
      if (handle !== undefined) return;
      const heard = hear(project.engine, true);
      const resumed = await project.engine.resume(root.run, {});
      if (resumed.kind === 'resumed') return void drive(resumed.handle, heard);
      heard.close();
      attachment.change({ notice: whyNot(resumed) });
    },
  };
}

function whyNot(outcome: Exclude<ResumeOutcome, { readonly kind: 'resumed' }>): string {
  switch (outcome.kind) {
    case 'held':
      return `process ${outcome.owner.pid} on ${outcome.owner.host} works on it already`;
    case 'refused':
      return [outcome.error.message, outcome.error.fix].filter((text) => text !== undefined).join(' ');
    case 'ended':
      return `it has ended: ${outcome.result.status}`;
    case 'unknown':
      return 'there is no such run any more';
    default:
      return unreachable(outcome);
  }
}

function endText(end: RunEnd): string | undefined {
  switch (end.kind) {
    case 'ended':
    case 'waiting':
      return undefined;
    case 'lost':
      return 'another process works on it now';
    default:
      return `${end.kind}: ${end.reason}`;
  }
}
