/** What became of an answer. */
import { Trouble } from '../trouble.tsx';
import { When } from '../when.tsx';
import type { Answering } from './answer.ts';

export function Outcome({ answering }: { readonly answering: Answering }) {
  switch (answering.state) {
    case 'sent':
      return <p role="status">Sent; waiting for the ledger to have it.</p>;
    case 'done':
      return (
        <p role="status" className="outcome good">
          ✓ {answering.words}
        </p>
      );
    case 'late':
      return (
        <p role="status" className="outcome late">
          ‖ Somebody was first: {answering.words}, <When at={answering.at} />. Yours was not needed and changed nothing.
        </p>
      );
    case 'refused':
      return <Trouble what={answering.refusal.message} fix={answering.refusal.fix} />;
    default:
      return null;
  }
}
