import type { AccountService } from '../../identity/accounts.service.ts'
import type { Database } from '../../lib/db/client.ts'
import { type Actor, assertMay, may } from '../../lib/kernel/actor.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { listToolOffers, type ToolOffer } from '../../servers/tools/tool-picks.store.ts'
import type { Tool, Toolkit } from '../../tools/tool.ts'
import type { ToolkitService } from '../../tools/toolkits.service.ts'
import type { ToolService } from '../../tools/tools.service.ts'
import type { ServerFrameParts } from '../frame/server-frame.ts'
import { buildableOptions } from '../toolkits/toolkit-form.ts'

export type Choice = { value: string; text: string }

type Common = {
  /** ID of the user who owns the drafts. Nobody else can restore them. */
  userId: string
  mayBuild: boolean
  /** The organization's servers. The tool can be added to them or tried with their bindings. */
  servers: readonly Choice[]
}

/** What the editor edits: a saved tool, a new tool of a toolkit, or a new tool whose toolkit is created with it. */
export type EditorSubject = Common &
  (
    | {
        kind: 'tool'
        tool: Tool
        toolkit: Toolkit
        organization: Choice
        offers: readonly ToolOffer[]
        /** Undefined if the user may not see all calls of one of the servers. */
        openConnections: number | undefined
      }
    | { kind: 'in-toolkit'; toolkit: Toolkit; organization: Choice }
    | { kind: 'new'; organizations: readonly Choice[]; organizationId: string }
  )

export type SubjectParts = {
  db: Database
  accounts: Pick<AccountService, 'getMe'>
  toolkits: ToolkitService
  tools: ToolService
  servers: ServerService
  frames: Pick<ServerFrameParts, 'openStreams'>
}

const MAX_SERVERS_LISTED = 200

export const createEditorSubjects = ({ db, accounts, toolkits, tools, servers, frames }: SubjectParts) => {
  const listServersOf = async (actor: Actor, organizationId: string): Promise<Choice[]> => {
    if (!may(actor, organizationId, 'build')) return []
    const found = await servers.listServers(actor, { limit: MAX_SERVERS_LISTED, afterId: undefined })
    return found
      .filter(server => server.organizationId === organizationId)
      .map(({ id, name }) => ({ value: id, text: name }))
  }

  /** Returns the organization. Hides the name of another organization whose public toolkit is shown. */
  const findOrganization = async (actor: Actor, id: string): Promise<Choice> => {
    const { organizations } = await accounts.getMe(actor)
    return { value: id, text: organizations.find(organization => organization.id === id)?.name ?? 'Gallery' }
  }

  const commonOf = async (actor: Actor, organizationId: string): Promise<Common> => ({
    userId: actor.userId,
    mayBuild: may(actor, organizationId, 'build'),
    servers: await listServersOf(actor, organizationId),
  })

  return {
    /** Throws `not_found` unless the tool belongs to the actor's organizations or to a public toolkit. */
    openTool: async (actor: Actor, id: string): Promise<EditorSubject & { kind: 'tool' }> => {
      const tool = await tools.getTool(actor, id)
      const toolkit = await toolkits.getToolkit(actor, tool.toolkitId)
      const offers = await listToolOffers(db, id, actor)
      const serverIds = new Set(offers.map(({ serverId }) => serverId))
      const openConnections = offers.every(({ onlyCaller }) => onlyCaller === undefined)
        ? [...serverIds].reduce((sum, serverId) => sum + frames.openStreams(serverId), 0)
        : undefined
      const organization = await findOrganization(actor, toolkit.organizationId)
      return {
        kind: 'tool',
        ...(await commonOf(actor, toolkit.organizationId)),
        tool,
        toolkit,
        organization,
        offers,
        openConnections,
      }
    },

    /**
     * Opens a new tool in a toolkit. Throws `not_found` or `forbidden` if the actor could not save a tool in this
     * toolkit.
     */
    openToolkit: async (actor: Actor, id: string): Promise<EditorSubject & { kind: 'in-toolkit' }> => {
      const toolkit = await tools.getToolkitForTools(actor, id)
      const organization = await findOrganization(actor, toolkit.organizationId)
      return { kind: 'in-toolkit', ...(await commonOf(actor, toolkit.organizationId)), toolkit, organization }
    },

    /** Opens a new tool with a new toolkit. `chosen` is the organization selected in the form, or an empty string. */
    openNew: async (actor: Actor, chosen: string): Promise<EditorSubject & { kind: 'new' }> => {
      if (chosen !== '') assertMay(actor, chosen, 'build')
      const options = await buildableOptions(accounts, actor)
      const organizationId = (options.find(({ value }) => value === chosen) ?? options[0]).value
      return { kind: 'new', ...(await commonOf(actor, organizationId)), organizations: options, organizationId }
    },
  }
}
