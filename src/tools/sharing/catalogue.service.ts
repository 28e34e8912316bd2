import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import type { Tool, ToolkitCard } from '../tool.ts'
import { noToolkit, type ServerRef, type ToolkitServiceParts } from '../toolkits.service.ts'
import * as store from './catalogue.store.ts'

/** A page of tools in the order of their names. */
export type NamePage = { limit: number; after: string | undefined }

export type UsedToolkitCard = ToolkitCard & { usedBy: readonly ServerRef[] }
export type ToolWithUses = { tool: Tool; usedBy: readonly ServerRef[] }

const ofActor = (actor: Actor): store.Shelf => ({ kind: 'own', organizationIds: organizationIdsOf(actor) })
const PUBLIC: store.Shelf = { kind: 'public' }

/** What people look through: toolkits with what is in them and who uses them, to be searched. */
export const createToolkitCatalogue = ({ db, uses }: Pick<ToolkitServiceParts, 'db' | 'uses'>) => {
  const withUses = async (cards: readonly ToolkitCard[]): Promise<UsedToolkitCard[]> => {
    const users = await uses.ofToolkits(
      db,
      cards.map(({ id }) => id),
    )
    return cards.map(card => ({ ...card, usedBy: users.get(card.id) ?? [] }))
  }

  const getOwn = async (actor: Actor, id: string): Promise<UsedToolkitCard> => {
    const card = await store.findToolkitCard(db, ofActor(actor), id)
    const [used] = await withUses(card === undefined ? [] : [card])
    if (used === undefined) throw noToolkit()
    return used
  }

  const getPublic = async (id: string): Promise<ToolkitCard> => {
    const card = await store.findToolkitCard(db, PUBLIC, id)
    if (card === undefined) throw noToolkit()
    return card
  }

  return {
    /** Of the actor's organizations, at most one more than the page holds. */
    listOwn: async (actor: Actor, search: string, page: IdPage): Promise<UsedToolkitCard[]> =>
      withUses(await store.listToolkitCards(db, ofActor(actor), search, page)),

    /** One of the actor's organizations, public or not. */
    getOwn,

    listOwnTools: async (actor: Actor, id: string, search: string, page: NamePage): Promise<ToolWithUses[]> => {
      await getOwn(actor, id)
      const tools = await store.listToolsMatching(db, id, search, page)
      const users = await uses.ofTools(
        db,
        tools.map(tool => tool.id),
      )
      return tools.map(tool => ({ tool, usedBy: users.get(tool.id) ?? [] }))
    },

    /** Public ones of everybody. */
    listPublic: (search: string, page: IdPage): Promise<ToolkitCard[]> =>
      store.listToolkitCards(db, PUBLIC, search, page),

    getPublic,

    listPublicTools: async (id: string, search: string, page: NamePage): Promise<Tool[]> => {
      await getPublic(id)
      return store.listToolsMatching(db, id, search, page)
    },

    /** For who was let at the organization. */
    countOf: (organizationId: string) => store.countToolkitsAndTools(db, organizationId),
  }
}

export type ToolkitCatalogue = ReturnType<typeof createToolkitCatalogue>
