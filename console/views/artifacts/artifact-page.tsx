/** One artifact: what is known of it, a look at it where that is safe and small, and its bytes. */

import { useEffect, useState } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import { readableBytes } from '../../../src/projections/readable.ts';
import { artifactAddress, readArtifact } from '../../api/bytes.ts';
import type { Refusal } from '../../api/client.ts';
import type { ArtifactRow } from '../../api/types.ts';
import { Awaited } from '../../parts/awaited.tsx';
import { DiffView } from '../../parts/diff-view.tsx';
import { RunLink } from '../../parts/event-link.tsx';
import { looksLikeDiff, ShownText } from '../../parts/shown-text.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { When } from '../../parts/when.tsx';

interface Props {
  readonly artifact: ArtifactRow;
  readonly session: string;
}

export function ArtifactPage({ artifact, session }: Props) {
  const { ref, type, bytes, run, at, checksum, collected, redacted, claimed, generated_by } = artifact;
  const address = artifactAddress(session, ref);
  return (
    <>
      <div className="section-head">
        <h2>
          <code>{visibleText(ref.replace('artifact://', ''))}</code>
        </h2>
        {!collected && address !== undefined && (
          <a className="button" href={address} download={ref.split('/').at(-1)}>
            Download
          </a>
        )}
      </div>
      <dl className="facts">
        <dt>Kind</dt>
        <dd>
          {type.replaceAll('_', ' ')}, {readableBytes(bytes)}
        </dd>
        <dt>From</dt>
        <dd>
          {visibleText(generated_by)},{' '}
          <RunLink session={session} run={run}>
            its run
          </RunLink>
          , <When at={at} />
        </dd>
        <dt>Checksum</dt>
        <dd>
          <code>{checksum}</code>
        </dd>
      </dl>
      {redacted === true && <p className="notice">Secrets were taken out of it before it was stored.</p>}
      {claimed !== undefined && (
        <p className="notice waits">
          ! It was said to have the checksum <code>{claimed}</code>, and has not.
        </p>
      )}
      {collected ? (
        <p className="quiet">Its bytes were removed by `troupe ledger gc`.</p>
      ) : (
        <Look artifact={artifact} session={session} />
      )}
    </>
  );
}

const SHOWN_BYTES = 1_048_576;
const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

type Read = { readonly bytes: ArrayBuffer } | { readonly refusal: Refusal } | undefined;

function Look({ artifact: { ref, bytes, generated_by }, session }: Props) {
  const [read, setRead] = useState<Read>();
  const isSmall = bytes <= SHOWN_BYTES;
  useEffect(() => {
    let isOpen = true;
    if (isSmall)
      void readArtifact(session, ref).then((got) => {
        if (isOpen) setRead(got.ok ? { bytes: got.value } : { refusal: got.error });
      });
    return () => {
      isOpen = false;
    };
  }, [session, ref, isSmall]);
  if (!isSmall) return <p className="quiet">Too large to be shown here: download it.</p>;
  if (read === undefined) return <Awaited what="its bytes" />;
  if ('refusal' in read) return <Trouble what={read.refusal.message} fix={read.refusal.fix} />;
  const type = IMAGES[ref.split('.').at(-1)?.toLowerCase() ?? ''];
  if (type !== undefined) return <Picture bytes={read.bytes} type={type} name={ref} />;
  const text = textIn(read.bytes);
  if (text === undefined) return <p className="quiet">It is no text: download it.</p>;
  if (looksLikeDiff(text)) return <DiffView diff={text} label="The difference" />;
  if (ref.endsWith('.md')) return <StrangersText text={text} by={generated_by} />;
  return <ShownText text={text} isDiff={false} label="Its text" />;
}

function textIn(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

interface PictureProps {
  readonly bytes: ArrayBuffer;
  readonly type: string;
  readonly name: string;
}

/** Only kinds that hold dots and nothing that could run. */
function Picture({ bytes, type, name }: PictureProps) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  return address === undefined ? null : <img className="preview-image" src={address} alt={name} />;
}
