import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { Database } from '../../lib/db/client.ts'
import { type Actor, buildableIdsOf } from '../../lib/kernel/actor.ts'
import { type FirstRunState, findFirstRun, isCalled, isUnused, saveFirstRun } from './first-run.store.ts'
import { createSampleServer, type SampleParts } from './sample-server.ts'

/** The user's progress toward the first call. */
export type FirstRunStep = { step: 'start' } | FirstRunState

export type FirstRunParts = SampleParts & { db: Database }

/**
 * Guides the operator of an unused installation to a first call in three steps. The guide ends permanently when it is
 * skipped or a call has completed. It is not shown while there is a server or toolkit from elsewhere, such as the demo's.
 */
export const createFirstRun = (parts: FirstRunParts) => {
  const { db } = parts
  const additions = createSingleFlight<string | undefined>()

  const getStep = async (actor: Actor): Promise<FirstRunStep> => {
    if (!actor.isOperator || buildableIdsOf(actor).length === 0) return { step: 'over' }
    const state = await findFirstRun(db)
    if (state?.step === 'plugged' && !state.isAnswered) {
      return { ...state, isAnswered: await isCalled(db, state.serverId) }
    }
    if (state !== undefined) return state
    return (await isUnused(db)) ? { step: 'start' } : { step: 'over' }
  }

  const addSample = async (actor: Actor): Promise<string | undefined> => {
    const state = await getStep(actor)
    const [organizationId] = buildableIdsOf(actor)
    if (state.step === 'plugged') return state.serverId
    if (state.step === 'over' || organizationId === undefined) return undefined
    const serverId = await createSampleServer(parts, actor, organizationId)
    await saveFirstRun(db, { step: 'plugged', serverId, isAnswered: false })
    return serverId
  }

  return {
    getStep,

    /**
     * Returns whether to redirect the user to the first-run page. Users are no longer redirected after the first call
     * to the sample.
     */
    isDue: async (actor: Actor): Promise<boolean> => {
      const state = await getStep(actor)
      return state.step === 'start' || (state.step === 'plugged' && !state.isAnswered)
    },

    /** Creates the sample server and returns its ID. Repeated and concurrent calls return the existing one. */
    addSample: (actor: Actor): Promise<string | undefined> => additions.run('', () => addSample(actor)),

    /** Records the first completed call. The page stays accessible, but users are no longer redirected to it. */
    recordCall: (serverId: string): Promise<void> => saveFirstRun(db, { step: 'plugged', serverId, isAnswered: true }),

    end: (): Promise<void> => saveFirstRun(db, { step: 'over' }),
  }
}
