import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { Database } from '../../lib/db/client.ts'
import { type Actor, buildableIdsOf } from '../../lib/kernel/actor.ts'
import { type FirstRunState, findFirstRun, isCalled, isUnused, type Plugged, saveFirstRun } from './first-run.store.ts'
import { createSampleServer, type SampleParts } from './sample-server.ts'

/** The user's progress toward the first call. */
export type FirstRunStep = { step: 'start' } | FirstRunState

export type FirstRunParts = SampleParts & { db: Database }

/** What a door of the first run creates: a server, and the MCP server whose tools are to be chosen. */
type Created = Pick<Plugged, 'serverId' | 'tool' | 'upstreamId'>

/** The tool of the sample to call first. */
export const SAMPLE_TOOL = 'convert_currency'

/**
 * Guides the operator of an unused installation to a first call: with the sample tools, a pasted request or an MCP
 * server. The guide ends permanently when it is skipped or a call has completed. It is not shown while there is a server
 * or toolkit from elsewhere, such as the demo's.
 */
export const createFirstRun = (parts: FirstRunParts) => {
  const { db } = parts
  const additions = createSingleFlight<Plugged | undefined>()

  const getStep = async (actor: Actor): Promise<FirstRunStep> => {
    if (!actor.isOperator || buildableIdsOf(actor).length === 0) return { step: 'over' }
    const state = await findFirstRun(db)
    if (state?.step === 'plugged' && !state.isAnswered) {
      return { ...state, isAnswered: await isCalled(db, state.serverId) }
    }
    if (state !== undefined) return state
    return (await isUnused(db)) ? { step: 'start' } : { step: 'over' }
  }

  const open = async (
    actor: Actor,
    create: (organizationId: string) => Promise<Created>,
  ): Promise<Plugged | undefined> => {
    const state = await getStep(actor)
    const [organizationId] = buildableIdsOf(actor)
    if (state.step === 'plugged') return state
    if (state.step === 'over' || organizationId === undefined) return undefined
    const plugged: Plugged = { step: 'plugged', ...(await create(organizationId)), isAnswered: false }
    await saveFirstRun(db, plugged)
    return plugged
  }

  return {
    getStep,

    /** Returns whether to redirect the user to the first-run page. Users are no longer redirected after the first call. */
    isDue: async (actor: Actor): Promise<boolean> => {
      const state = await getStep(actor)
      return state.step === 'start' || (state.step === 'plugged' && !state.isAnswered)
    },

    /**
     * Creates a server, in the organization that `create` gets, unless there is one. Concurrent calls wait for the first.
     * Returns undefined if the first run is over.
     */
    open: (actor: Actor, create: (organizationId: string) => Promise<Created>): Promise<Plugged | undefined> =>
      additions.run('', () => open(actor, create)),

    /** Creates the sample server. */
    openSample: (actor: Actor): Promise<Plugged | undefined> =>
      additions.run('', () =>
        open(actor, async organizationId => ({
          serverId: await createSampleServer(parts, actor, organizationId),
          tool: SAMPLE_TOOL,
        })),
      ),

    /** Records that the tools of the MCP server are chosen. */
    recordChoice: ({ upstreamId: _upstreamId, ...state }: Plugged): Promise<void> => saveFirstRun(db, state),

    /** Records the first completed call. The page stays accessible, but users are no longer redirected to it. */
    recordCall: (state: Plugged): Promise<void> => saveFirstRun(db, { ...state, isAnswered: true }),

    end: (): Promise<void> => saveFirstRun(db, { step: 'over' }),
  }
}
export type FirstRun = ReturnType<typeof createFirstRun>
