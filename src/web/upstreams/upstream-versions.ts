import { compareVersions, type Versions } from '../../lib/http/versions.ts'
import type { TypedUpstream } from './upstream-form.ts'

/** Settings in the order of the page. Leaves out the client secret, which is never shown. */
const COMPARED: readonly [label: string, field: keyof TypedUpstream][] = [
  ['Name', 'name'],
  ['Prefix', 'prefix'],
  ['Description', 'description'],
  ['Enabled', 'enabled'],
  ['Transport', 'transport'],
  ['URL', 'url'],
  ['Command', 'command'],
  ['Arguments', 'args'],
  ['Headers', 'headers'],
  ['More URLs', 'urls'],
  ['Environment', 'env'],
  ['Working directory', 'cwd'],
  ['Timeout per request (ms)', 'timeoutMs'],
  ['Connects immediately', 'eager'],
  ['Authentication', 'auth'],
  ['Client ID', 'clientId'],
  ['Scopes', 'scopes'],
  ['Tools', 'tools'],
  ['Resources', 'resources'],
  ['Prompts', 'prompts'],
  ['Allowed tools', 'allow'],
  ['Excluded tools', 'deny'],
]

/** Compares the settings as typed with those that somebody else has saved. Lists only the settings that differ. */
export const compareUpstreams = (mine: TypedUpstream, theirs: TypedUpstream): Versions => {
  const texts = COMPARED.map(([label, field]) => ({ label, mine: mine[field], theirs: theirs[field] }))
  return { ...compareVersions(texts), same: [] }
}
