import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { sortRows } from '../../lib/kernel/sort-rows.ts'
import type { Tool, ToolkitCard } from '../tool.ts'
import { type ServerRef, type ToolkitServiceParts, toolkitNotFound } from '../toolkits.service.ts'
import { listToolsById } from '../tools.store.ts'
import * as store from './catalogue.store.ts'

export type UsedToolkitCard = ToolkitCard & { usedBy: readonly ServerRef[] }
export type ToolWithUses = { tool: Tool; usedBy: readonly ServerRef[] }

export type ToolListQuery = {
  search: string
  /** `uses`: the number of servers that use a tool and that the reader may use. */
  sortBy: 'name' | 'request' | 'uses' | 'changed'
  isDescending: boolean
  skip: number
  take: number
}
export type ToolList = { items: ToolWithUses[]; total: number }

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

    /** Lists a page of the tools of a toolkit that match the search, and counts all that do. */
    listOwnTools: async (actor: Actor, id: string, query: ToolListQuery): Promise<ToolList> => {
      await getOwn(actor, id)
      const heads = await store.listToolHeads(db, id, query.search)
      const usersOf = (tools: readonly { id: string }[]) =>
        uses.ofTools(
          db,
          tools.map(tool => tool.id),
          actor,
        )
      const { sortBy, isDescending } = query
      const counted = sortBy === 'uses' ? await usersOf(heads) : undefined
      const requests = sortBy === 'request' ? await store.listRequestTexts(db, id) : undefined
      const keyOf = ({ id: toolId, name, updatedAt }: store.ToolHead): number | string => {
        if (counted !== undefined) return counted.get(toolId)?.length ?? 0
        if (requests !== undefined) return requests.get(toolId) ?? ''
        return sortBy === 'changed' ? updatedAt.getTime() : name
      }
      const page = sortRows(heads, keyOf, isDescending).slice(query.skip, query.skip + query.take)
      const users = counted ?? (await usersOf(page))
      const tools = await listToolsById(
        db,
        id,
        page.map(tool => tool.id),
      )
      const byId = new Map(tools.map(tool => [tool.id, tool]))
      const items = page.flatMap(head => {
        const tool = byId.get(head.id)
        return tool === undefined ? [] : [{ tool, usedBy: users.get(tool.id) ?? [] }]
      })
      return { items, total: heads.length }
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
