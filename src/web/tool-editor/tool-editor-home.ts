import type { Database } from '../../lib/db/client.ts'
import { type Actor, assertMay, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { mayRole, type Role } from '../../lib/kernel/roles.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { listToolOffers, type ToolOffer } from '../../servers/tools/tool-offers.store.ts'
import type { Tool, Toolkit } from '../../tools/tool.ts'
import type { ToolkitService } from '../../tools/toolkits.service.ts'
import type { ToolService } from '../../tools/tools.service.ts'

export type Choice = { value: string; text: string }

type Common = {
  /** What is typed belongs to them: nobody else is offered it back. */
  userId: string
  mayBuild: boolean
  /** Servers of the organization, to try the tool as it is wired in one, and to offer it. */
  servers: readonly Choice[]
}

/** What the editor is open on: a saved tool, a new one of a toolkit, or a new one whose toolkit is made with it. */
export type EditorHome = Common &
  (
    | { kind: 'tool'; tool: Tool; toolkit: Toolkit; organization: Choice; offers: readonly ToolOffer[]; live: number }
    | { kind: 'in-toolkit'; toolkit: Toolkit; organization: Choice }
    | { kind: 'new'; organizations: readonly Choice[]; organizationId: string }
  )

export type HomeParts = {
  db: Database
  accounts: {
    getMe: (actor: Actor) => Promise<{ organizations: readonly { id: string; name: string; role: Role }[] }>
  }
  toolkits: ToolkitService
  tools: ToolService
  servers: ServerService
  /** Connections that clients hold open to a server, in this process. */
  openStreams: (serverId: string) => number
}

/** Servers that a list offers; who has more finds the tool's place from the server's own pages. */
const MAX_SERVERS_LISTED = 200

const mayBuildIn = (actor: Actor, organizationId: string): boolean => {
  const role = actor.memberships.get(organizationId)
  return role !== undefined && mayRole(role, 'build')
}

export const createEditorHomes = ({ db, accounts, toolkits, tools, servers, openStreams }: HomeParts) => {
  const listServersOf = async (actor: Actor, organizationId: string): Promise<Choice[]> => {
    if (!mayBuildIn(actor, organizationId)) return []
    const found = await servers.listServers(actor, { limit: MAX_SERVERS_LISTED, afterId: undefined })
    return found
      .filter(server => server.organizationId === organizationId)
      .map(({ id, name }) => ({ value: id, text: name }))
  }

  /** Of somebody else's public toolkit the organization's name is nobody's business. */
  const findOrganization = async (actor: Actor, id: string): Promise<Choice> => {
    const { organizations } = await accounts.getMe(actor)
    return { value: id, text: organizations.find(organization => organization.id === id)?.name ?? 'Gallery' }
  }

  const commonOf = async (actor: Actor, organizationId: string): Promise<Common> => ({
    userId: actor.userId,
    mayBuild: mayBuildIn(actor, organizationId),
    servers: await listServersOf(actor, organizationId),
  })

  return {
    /** `not_found` where the tool is neither one's own nor of a public toolkit. */
    openTool: async (actor: Actor, id: string): Promise<EditorHome & { kind: 'tool' }> => {
      const tool = await tools.getTool(actor, id)
      const toolkit = await toolkits.getToolkit(actor, tool.toolkitId)
      const offers = await listToolOffers(db, id, organizationIdsOf(actor))
      const serverIds = new Set(offers.map(({ serverId }) => serverId))
      const live = [...serverIds].reduce((sum, serverId) => sum + openStreams(serverId), 0)
      const organization = await findOrganization(actor, toolkit.organizationId)
      return {
        kind: 'tool',
        ...(await commonOf(actor, toolkit.organizationId)),
        tool,
        toolkit,
        organization,
        offers,
        live,
      }
    },

    /** For a new tool: `not_found` and `forbidden` as saving it would be. */
    openToolkit: async (actor: Actor, id: string): Promise<EditorHome & { kind: 'in-toolkit' }> => {
      const toolkit = await tools.getToolkitForTools(actor, id)
      const organization = await findOrganization(actor, toolkit.organizationId)
      return { kind: 'in-toolkit', ...(await commonOf(actor, toolkit.organizationId)), toolkit, organization }
    },

    /** For a tool whose toolkit is made with it; `chosen` is the organization that the form names, if it does. */
    openNew: async (actor: Actor, chosen: string): Promise<EditorHome & { kind: 'new' }> => {
      if (chosen !== '') assertMay(actor, chosen, 'build')
      const { organizations } = await accounts.getMe(actor)
      const options = organizations
        .filter(({ role }) => mayRole(role, 'build'))
        .map(({ id, name }) => ({ value: id, text: name }))
      const organizationId = options.find(({ value }) => value === chosen)?.value ?? options[0]?.value
      if (organizationId === undefined) {
        throw new AppError('forbidden', 'Making things takes an organization in which your role is builder or above.')
      }
      return { kind: 'new', ...(await commonOf(actor, organizationId)), organizations: options, organizationId }
    },
  }
}
