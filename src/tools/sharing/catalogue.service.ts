import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { Tool, ToolkitCard } from '../tool.ts'
import { type ServerRef, type ToolkitServiceParts, toolkitNotFound } from '../toolkits.service.ts'
import * as store from './catalogue.store.ts'

export type UsedToolkitCard = ToolkitCard & { usedBy: readonly ServerRef[] }
export type ToolWithUses = { tool: Tool; usedBy: readonly ServerRef[] }

const ofActor = (actor: Actor): store.ToolkitScope => ({ kind: 'own', organizationIds: organizationIdsOf(actor) })
const PUBLIC: store.ToolkitScope = { kind: 'public' }

/** Searches toolkits, with their contents and those servers that use them and that the reader may use. */
export const createToolkitCatalogue = ({ db, uses }: Pick<ToolkitServiceParts, 'db' | 'uses'>) => {
  const getOwn = async (actor: Actor, id: string): Promise<UsedToolkitCard> => {
    const card = orThrow(await store.findToolkitCard(db, ofActor(actor), id), toolkitNotFound)
    return { ...card, usedBy: (await uses.ofToolkits(db, [id], actor)).get(id) ?? [] }
  }

  const getPublic = async (id: string): Promise<ToolkitCard> =>
    orThrow(await store.findToolkitCard(db, PUBLIC, id), toolkitNotFound)

  return {
    /** Lists toolkits of the actor's organizations. Returns one more than the page size if there is another page. */
    listOwn: async (actor: Actor, search: string, page: IdPage): Promise<UsedToolkitCard[]> => {
      const cards = await store.listToolkitCards(db, ofActor(actor), search, page)
      const users = await uses.ofToolkits(
        db,
        cards.map(({ id }) => id),
        actor,
      )
      return cards.map(card => ({ ...card, usedBy: users.get(card.id) ?? [] }))
    },

    /** Returns a toolkit of the actor's organizations, regardless of its visibility. */
    getOwn,

    listOwnTools: async (actor: Actor, id: string, search: string, page: store.NamePage): Promise<ToolWithUses[]> => {
      await getOwn(actor, id)
      const tools = await store.listToolsMatching(db, id, search, page)
      const users = await uses.ofTools(
        db,
        tools.map(tool => tool.id),
        actor,
      )
      return tools.map(tool => ({ tool, usedBy: users.get(tool.id) ?? [] }))
    },

    listPublic: (search: string, page: IdPage): Promise<ToolkitCard[]> =>
      store.listToolkitCards(db, PUBLIC, search, page),

    getPublic,

    listPublicTools: async (id: string, search: string, page: store.NamePage): Promise<Tool[]> => {
      await getPublic(id)
      return store.listToolsMatching(db, id, search, page)
    },

    /** The caller checks access to the organization. */
    countOf: (organizationId: string) => store.countToolkitsAndTools(db, organizationId),
  }
}

export type ToolkitCatalogue = ReturnType<typeof createToolkitCatalogue>
