/** The witnesses that are asked to cosign checkpoints, as the settings name them. */
import { readList, type SettingReader } from '@gw/contract/internal/environment';
import { hasLogin, isConfidentialUrl } from '@gw/contract/internal/loopback';
import { witnessKeyIn } from '@gw/evidence/cosignatures';
import type { NoteKey } from '@gw/evidence/note';

export interface LogWitness {
  readonly key: NoteKey;
  /** The prefix of its API, without a slash at the end. */
  readonly url: string;
}

const example = 'GW_LOG_WITNESSES=witness.example/w1+8d66cf3f+BAAB…@https://witness.example/api';

/** Reads `GW_LOG_WITNESSES`: `<vkey>@<url>,<vkey>@<url>`. Problems are reported to `settings`. */
export function readLogWitnesses(settings: SettingReader): LogWitness[] {
  return readList(settings, 'GW_LOG_WITNESSES').flatMap((text) => {
    const at = text.search(/@https?:/);
    const [vkey, url] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
    const key = witnessKeyIn(vkey);
    if (key === null)
      settings.problem(
        `GW_LOG_WITNESSES has "${vkey}", which is not the key of a witness: a name, the id of the key and an Ed25519 key, with a plus between each. Example: ${example}`,
      );
    else if (!isConfidentialUrl(url) || new URL(url).search !== '' || hasLogin(url))
      settings.problem(
        `GW_LOG_WITNESSES has no address by https, or by http on loopback, behind the key of ${key.name} and an @. Example: ${example}`,
      );
    else return [{ key, url: url.replace(/\/+$/, '') }];
    return [];
  });
}
