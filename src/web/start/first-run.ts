import { type Actor, mayRole } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import { type FirstRunState, findFirstRun, isCalled, isUnused, keepFirstRun } from './first-run.store.ts'
import { createSampleServer, type SampleParts } from './sample-server.ts'

/** Where somebody stands on the way to the first answered call. */
export type FirstRunStep = { step: 'start' } | FirstRunState

export type FirstRunParts = SampleParts & { db: Database }

/** An organization that the actor may build in. */
const homeOf = (actor: Actor): string | undefined =>
  [...actor.memberships].find(([, role]) => mayRole(role, 'build'))?.[0]

/**
 * Three steps to a first answered call, for the operator of an installation that nobody has used. They are over for
 * good once they were skipped, or led to a call, or somebody made a server or a tool in another way.
 */
export const createFirstRun = (parts: FirstRunParts) => {
  const { db } = parts
  let plugging: Promise<string | undefined> | undefined

  const getStep = async (actor: Actor): Promise<FirstRunStep> => {
    if (!actor.isOperator || homeOf(actor) === undefined) return { step: 'over' }
    const state = await findFirstRun(db)
    if (state?.step === 'plugged' && !state.isAnswered) {
      return { ...state, isAnswered: await isCalled(db, state.serverId) }
    }
    if (state !== undefined) return state
    return (await isUnused(db)) ? { step: 'start' } : { step: 'over' }
  }

  const plugIn = async (actor: Actor): Promise<string | undefined> => {
    const state = await getStep(actor)
    const organizationId = homeOf(actor)
    if (state.step === 'plugged') return state.serverId
    if (state.step === 'over' || organizationId === undefined) return undefined
    const serverId = await createSampleServer(parts, actor, organizationId)
    await keepFirstRun(db, { step: 'plugged', serverId, isAnswered: false })
    return serverId
  }

  return {
    getStep,

    /** Whether the way is still to be shown to who comes in: a call on the sample ends it. */
    isDue: async (actor: Actor): Promise<boolean> => {
      const state = await getStep(actor)
      return state.step === 'start' || (state.step === 'plugged' && !state.isAnswered)
    },

    /** Makes the sample's server; asked again, at the same time too, it answers the one that is there. */
    plugIn: (actor: Actor): Promise<string | undefined> => {
      plugging ??= plugIn(actor).finally(() => {
        plugging = undefined
      })
      return plugging
    },

    /** A call was answered: what came of it can be looked at, but nobody is led here any more. */
    noteAnswer: (serverId: string): Promise<void> => keepFirstRun(db, { step: 'plugged', serverId, isAnswered: true }),

    end: (): Promise<void> => keepFirstRun(db, { step: 'over' }),
  }
}

export type FirstRun = ReturnType<typeof createFirstRun>
