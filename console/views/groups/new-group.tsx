/** A new group: from the repository's presets, your own, or those that come along. */
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { post, type Refusal } from '../../api/client.ts';
import type { PresetRow } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { project, useLoaded } from '../../store/hooks.ts';

interface PresetList {
  readonly presets: readonly PresetRow[];
  readonly warnings: readonly string[];
}

const STRATEGIES = [
  ['', 'as the preset says'],
  ['shared', 'the project’s own folder'],
  ['group', 'one worktree for the group'],
  ['isolated', 'a worktree for each member'],
] as const;

export function NewGroup({ close }: { readonly close: () => void }) {
  const presets = useLoaded<PresetList>('/presets');
  const [name, setName] = useState('');
  const [preset, setPreset] = useState<string>();
  const [worktrees, setWorktrees] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();
  const [, go] = useLocation();
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const made = await post<{ readonly name: string }>('/groups', {
      name: name.trim(),
      preset,
      ...(worktrees === '' ? {} : { worktrees }),
    });
    if (!made.ok) {
      setRefusal(made.error);
      return;
    }
    project.touch();
    close();
    go(`/groups/${encodeURIComponent(made.value.name)}`);
  };
  return (
    <Dialog title="New group" close={close}>
      <form className="form new-group" onSubmit={(event) => void make(event)}>
        <LoadedView loaded={presets} what="the presets">
          {({ presets: listed, warnings }) => (
            <>
              <Picker presets={listed} chosen={preset} choose={setPreset} />
              {warnings.map((warning) => (
                <p key={warning} className="tone-waits">
                  ! {warning}
                </p>
              ))}
            </>
          )}
        </LoadedView>
        <label>
          <span>Its name</span>
          <input className="field" value={name} required maxLength={200} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          <span>Where it works</span>
          <select className="field" value={worktrees} onChange={(event) => setWorktrees(event.target.value)}>
            {STRATEGIES.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
        <div className="form-row">
          <button type="submit" className="button first" disabled={preset === undefined || name.trim() === ''}>
            Make the group
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const TIERS = [
  ['repo', 'From this repository'],
  ['user', 'Mine'],
  ['built-in', 'Built in'],
] as const;

interface PickerProps {
  readonly presets: readonly PresetRow[];
  readonly chosen: string | undefined;
  readonly choose: (reference: string) => void;
}

function Picker({ presets, chosen, choose }: PickerProps) {
  return TIERS.map(([tier, title]) => {
    const own = presets.filter((one) => one.tier === tier);
    if (own.length === 0) return null;
    return (
      <fieldset key={tier} className="presets">
        <legend>{title}</legend>
        {own.map(({ reference, name, description, mode, workers, shadowedBy }) => (
          <label key={reference} className="preset">
            <input type="radio" name="preset" checked={chosen === reference} onChange={() => choose(reference)} />
            <span>
              <strong>{visibleText(name)}</strong>{' '}
              <span className="quiet">
                {mode}: {visibleText(workers.join(', '))}
              </span>
              {shadowedBy !== null && <span className="tone-waits"> ! the name means {shadowedBy} elsewhere</span>}
              <span className="preset-about">{description}</span>
            </span>
          </label>
        ))}
      </fieldset>
    );
  });
}
