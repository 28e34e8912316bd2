import { isDeepStrictEqual } from 'node:util'
import {
  type ConfigFile,
  draftUpstreams,
  fillPlace,
  type GlobalDraft,
  type UpstreamDraft,
} from '../config-files/index.ts'
import { type Actor, AppError } from '../kernel/index.ts'
import type { Services } from '../services.ts'
import { failureLines } from './failure-lines.ts'
import { readReferred } from './read-variable.ts'

type Input = UpstreamDraft['input']
type Held = { id: string; foundName: string; input: Input }

/** What became of the servers of a file, by the names that they have here. */
export type SyncOutcome = {
  /** All that are served. */
  names: string[]
  added: string[]
  changed: string[]
  removed: string[]
  /** Those of the file that are not taken, or stay as they were. */
  skipped: { name: string; why: string }[]
  notes: { name: string; note: string }[]
}

const valueFor = ({ from }: GlobalDraft): string =>
  from.kind === 'file' ? from.value : (readReferred(from.variable) ?? from.variable.fallback ?? '')

/** A change that leaves nothing of what was before. */
const wholeChange = ({ name, description, enabled, transport, ...rest }: Input) => ({
  name,
  description: description ?? null,
  enabled,
  transport,
  command: rest.command ?? null,
  args: rest.args ?? null,
  env: rest.env ?? null,
  cwd: rest.cwd ?? null,
  url: rest.url ?? null,
  headers: rest.headers ?? null,
  features: rest.features ?? null,
  allow: rest.allow ?? null,
  deny: rest.deny ?? null,
  timeoutMs: rest.timeoutMs ?? null,
})

export type ConfigSyncParts = {
  services: Pick<Services, 'upstreams' | 'globals'>
  actor: Actor
  serverId: string
}

/** Brings the upstreams of one server to what a file says, again and again; what did not change is left alone. */
export const createConfigSync = ({ services, actor, serverId }: ConfigSyncParts) => {
  const { upstreams, globals } = services
  const held = new Map<string, Held>()
  const values = new Map<string, { value: string; isSecret: boolean }>()

  const putGlobals = async (wanted: readonly GlobalDraft[]): Promise<void> => {
    for (const draft of wanted) {
      const { key, isSecret } = draft
      const next = { value: valueFor(draft), isSecret }
      if (isDeepStrictEqual(values.get(key), next)) continue
      await globals.putGlobal(actor, serverId, key, { value: next.value, secret: isSecret })
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

  const put = async ({ foundName, input }: UpstreamDraft, outcome: SyncOutcome): Promise<void> => {
    const before = held.get(input.name)
    if (before !== undefined && isDeepStrictEqual(before.input, input)) return
    if (before === undefined) {
      const { upstream } = await upstreams.createUpstream(actor, serverId, input)
      held.set(input.name, { id: upstream.id, foundName, input })
      outcome.added.push(input.name)
      return
    }
    await upstreams.updateUpstream(actor, before.id, wholeChange(input))
    held.set(input.name, { id: before.id, foundName, input })
    outcome.changed.push(input.name)
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

  /** One that cannot be stays as it was; the others are not held up. */
  return async ({ servers, unusable }: ConfigFile): Promise<SyncOutcome> => {
    const filled = servers.map(server => ({ ...server, place: fillPlace(server.place, readReferred) }))
    const drafts = draftUpstreams(filled)
    const skipped = unusable.map(({ name, why }) => ({ name, why: `It ${why}.` }))
    const notes = drafts.upstreams.flatMap(({ foundName: name, notes: all }) => all.map(note => ({ name, note })))
    const outcome: SyncOutcome = { names: [], added: [], changed: [], removed: [], skipped, notes }
    await removeOthers(drafts.upstreams, unusable, outcome)
    await putGlobals(drafts.globals)
    for (const draft of drafts.upstreams) {
      try {
        await put(draft, outcome)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        skipped.push({ name: draft.foundName, why: failureLines(error).join(' ') })
      }
    }
    // Those of an upstream that stayed as it was are still referred to.
    if (skipped.length === 0) await removeGlobals(drafts.globals)
    outcome.names = [...held.keys()]
    return outcome
  }
}
