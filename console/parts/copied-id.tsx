/** An id: six characters of it; a click copies the whole. */
import { useState } from 'react';
import { shortened } from './ids.ts';

export function CopiedId({ id, what }: { readonly id: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(id);
    setCopied(true);
  };
  return (
    <button type="button" className="button quiet mono" title={id} onClick={() => void copy()}>
      {isCopied ? 'copied' : shortened(id)} <span className="unseen">copy the id of the {what}</span>
    </button>
  );
}
