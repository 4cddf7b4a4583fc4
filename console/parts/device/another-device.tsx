/** A link with which another browser logs in as whoever asks for it, once, and what it shows then; and the same for a camera. */
import { useEffect, useMemo, useState } from 'react';
import { post, type Refusal } from '../../api/client.ts';
import { Awaited } from '../awaited.tsx';
import { Dialog } from '../dialog.tsx';
import { Trouble } from '../trouble.tsx';
import './device.css';
import { qrCode } from './qr-code.ts';

interface Props {
  readonly close: () => void;
  /** What the other one shows first. */
  readonly page: string;
}

interface Code {
  readonly path: string;
  readonly expiresAt: string;
}

type Made = Code | { readonly refusal: Refusal } | undefined;

export function AnotherDevice({ close, page }: Props) {
  const [made, setMade] = useState<Made>();
  useEffect(() => {
    let isOpen = true;
    void post<Code>('/login-codes').then((code) => {
      if (isOpen) setMade(code.ok ? code.value : { refusal: code.error });
    });
    return () => {
      isOpen = false;
    };
  }, []);
  return (
    <Dialog title="Another device" close={close}>
      {made === undefined ? (
        <Awaited what="a link" />
      ) : 'refusal' in made ? (
        <Trouble what={made.refusal.message} fix={made.refusal.fix} />
      ) : (
        <Link address={location.origin + made.path + page} />
      )}
    </Dialog>
  );
}

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

function Link({ address }: { readonly address: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(address);
    setCopied(true);
  };
  return (
    <div className="device">
      <p>Whoever opens this link is logged in as you: once, within ten minutes. Nobody else should see it.</p>
      <Code address={address} />
      <label>
        The link
        <input className="field mono" readOnly value={address} onFocus={(event) => event.target.select()} />
      </label>
      <p>
        <button type="button" className="button first" onClick={() => void copy()}>
          Copy
        </button>{' '}
        <span role="status">{isCopied ? 'Copied.' : ''}</span>
      </p>
      {LOOPBACK.test(location.hostname) && (
        <p className="notice waits">
          This address is known to this machine only. For others: `serve: {'{ url: … }'}` behind a proxy, or `troupe serve --host`
          with a token.
        </p>
      )}
    </div>
  );
}

/** Dark on light in both schemes: cameras want it so. */
function Code({ address }: { readonly address: string }) {
  const rows = useMemo(() => qrCode(address), [address]);
  if (rows === undefined) return null;
  const size = rows.length + 8;
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : []))).join('');
  return (
    <svg className="device-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="The link as a QR code">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
