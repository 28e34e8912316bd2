import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Services } from '../../services.ts'
import { failureLines } from '../failure-lines.ts'
import { readReferred } from '../read-variable.ts'
import type { ConfigText, ConfigVariable } from './config-text.ts'
import {
  draftUpstreams,
  type GlobalDraft,
  isSecretVariable,
  listOriginsByKey,
  type UpstreamDraft,
} from './draft-upstreams.ts'
import { mapPlace } from './found-server.ts'
import type { ConfigFile } from './read-config-file.ts'

const findValue = (variable: ConfigVariable): string | undefined => readReferred(variable) ?? variable.fallback

/**
 * Fills in the variables of a text in the operator's own file. Unknown variables stay as written. Likely secrets stay
 * variables, so that their values are sealed.
 */
const fillVariables = (text: ConfigText): ConfigText =>
  text.map(part => {
    if (part.kind === 'text') return part
    const value = findValue(part)
    return value && isSecretVariable(part) ? part : { kind: 'text', text: value ?? part.written }
  })

type Input = UpstreamDraft['input']
type Held = { id: string; foundName: string; input: Input }

/** The outcome of a sync. `names`, `added`, `changed` and `removed` use the names in Patchbay. */
export type SyncOutcome = {
  /** All servers in use. */
  names: string[]
  added: string[]
  changed: string[]
  removed: string[]
  /** Servers that were rejected, and servers that keep their previous version because the new one was rejected. */
  skipped: { name: string; why: string }[]
  notes: { name: string; note: string }[]
}

const valueFor = ({ from }: GlobalDraft): string =>
  from.kind === 'file' ? from.value : (findValue(from.variable) ?? '')

/** Values that reset the optional fields in a change, so that nothing of the previous version remains. */
const CLEARED = {
  description: null,
  command: null,
  args: null,
  env: null,
  cwd: null,
  url: null,
  headers: null,
  features: null,
  allow: null,
  deny: null,
  timeoutMs: null,
}

export type ConfigSyncParts = {
  services: Pick<Services, 'upstreams' | 'globals'>
  actor: Actor
  serverId: string
}

/**
 * Returns a function that syncs the upstreams of one server with a configuration file. The function leaves unchanged
 * upstreams alone.
 */
export const createConfigSync = ({ services, actor, serverId }: ConfigSyncParts) => {
  const { upstreams, globals } = services
  const held = new Map<string, Held>()
  const values = new Map<string, { value: string; isSecret: boolean; origins: readonly string[] }>()

  const putGlobals = async (wanted: readonly GlobalDraft[], drafts: readonly UpstreamDraft[]): Promise<void> => {
    const found = new Map(wanted.map(draft => [draft.key, valueFor(draft)]))
    const originsByKey = listOriginsByKey(drafts, key => found.get(key))
    for (const { key, isSecret } of wanted) {
      const before = values.get(key)
      // An upstream that is rejected keeps its previous version, and so its previous origin.
      const origins = [...new Set([...(before?.origins ?? []), ...(originsByKey.get(key) ?? [])])]
      const value = found.get(key) ?? ''
      const next = { value, isSecret, origins }
      if (isDeepStrictEqual(before, next)) continue
      await globals.putGlobal(actor, serverId, key, { value, secret: isSecret, ...(isSecret && { origins }) })
      values.set(key, next)
    }
  }

  const removeGlobals = async (wanted: readonly GlobalDraft[]): Promise<void> => {
    const keys = new Set(wanted.map(({ key }) => key))
    for (const key of [...values.keys()].filter(known => !keys.has(known))) {
      await globals.removeGlobal(actor, serverId, key)
      values.delete(key)
    }
  }

  const put = async ({ found, input }: UpstreamDraft, outcome: SyncOutcome): Promise<void> => {
    const before = held.get(input.name)
    if (isDeepStrictEqual(before?.input, input)) return
    const { upstream } = before
      ? await upstreams.updateUpstream(actor, before.id, { ...CLEARED, ...input })
      : await upstreams.createUpstream(actor, serverId, input)
    held.set(input.name, { id: upstream.id, foundName: found.name, input })
    outcome[before ? 'changed' : 'added'].push(input.name)
  }

  const removeOthers = async (
    drafts: readonly UpstreamDraft[],
    unusable: ConfigFile['unusable'],
    outcome: SyncOutcome,
  ): Promise<void> => {
    const names = new Set(drafts.map(({ input }) => input.name))
    const broken = new Set(unusable.map(({ name }) => name))
    for (const [name, { id, foundName }] of held) {
      if (names.has(name) || broken.has(foundName)) continue
      await upstreams.removeUpstream(actor, id)
      held.delete(name)
      outcome.removed.push(name)
    }
  }

  /** If an upstream is rejected, it keeps its previous version and the others are still synced. */
  return async ({ servers, unusable }: ConfigFile): Promise<SyncOutcome> => {
    const filled = servers.map(server => ({ ...server, place: mapPlace(server.place, fillVariables) }))
    const drafts = draftUpstreams(filled)
    const skipped = unusable.map(({ name, why }) => ({ name, why: `It ${why}.` }))
    const notes = drafts.upstreams.flatMap(({ found: { name }, notes: all }) => all.map(note => ({ name, note })))
    const outcome: SyncOutcome = { names: [], added: [], changed: [], removed: [], skipped, notes }
    await removeOthers(drafts.upstreams, unusable, outcome)
    await putGlobals(drafts.globals, drafts.upstreams)
    for (const draft of drafts.upstreams) {
      try {
        await put(draft, outcome)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        skipped.push({ name: draft.found.name, why: failureLines(error).join(' ') })
      }
    }
    // Upstreams that kept their previous version still refer to the globals of that version.
    if (skipped.length === 0) await removeGlobals(drafts.globals)
    outcome.names = [...held.keys()]
    return outcome
  }
}
