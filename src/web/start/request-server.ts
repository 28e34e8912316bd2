import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { MAX_SECRET_BYTES } from '../../lib/kernel/limits.ts'
import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import type { GlobalService } from '../../servers/globals/globals.service.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { ownerOf } from '../../tools/import/secret-values.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { ToolService } from '../../tools/tools.service.ts'

/** Dependencies of `createRequestServer`. */
export type RequestServerParts = {
  tools: Pick<ToolService, 'createToolWithToolkit'>
  servers: Pick<ServerService, 'createServer'>
  globals: Pick<GlobalService, 'createGlobal'>
  instances: Pick<InstanceService, 'createInstance'>
}

/** Returns the name for a server with the tools of a URL: `Carrier` for `https://api.carrier.example`. */
export const serverNameFor = (url: string): string => {
  const owner = ownerOf(url)
  return owner === undefined ? 'My tools' : owner.charAt(0).toUpperCase() + owner.slice(1)
}

/** Throws before anything is created if the tool cannot have its name on a server. */
const assertNameIsFree = ({ name }: ToolDefinition): void => {
  if (!name.startsWith(RESERVED_TOOL_PREFIX)) return
  const message = `must not start with ${RESERVED_TOOL_PREFIX}, which is reserved`
  throw new AppError('invalid_request', `The name ${message}.`, { errors: [{ path: 'name', message }] })
}

/** Throws before anything is created if a secret is too large to be stored. */
const assertSecretsFit = (secrets: ReadonlyMap<string, string>): void => {
  const tooLong = [...secrets].filter(([, value]) => Buffer.byteLength(value) > MAX_SECRET_BYTES)
  if (tooLong.length === 0) return
  const errors = tooLong.map(([name]) => ({
    path: `secret:${name}`,
    message: `is longer than ${MAX_SECRET_BYTES} bytes`,
  }))
  throw new AppError('invalid_request', 'A secret is too long.', { errors })
}

/**
 * Creates a toolkit with a tool, and a server for the organization that offers the tool and stores its secrets, which
 * are sent only to the tool's origin. Returns the server's ID.
 */
export const createRequestServer = async (
  { tools, servers, globals, instances }: RequestServerParts,
  actor: Actor,
  organizationId: string,
  { definition, secrets }: { definition: ToolDefinition; secrets: ReadonlyMap<string, string> },
): Promise<string> => {
  assertNameIsFree(definition)
  assertSecretsFit(secrets)
  const name = serverNameFor(definition.url)
  const tool = await tools.createToolWithToolkit(actor, { title: name, organizationId }, definition)
  const server = await servers.createServer(actor, {
    name,
    access: 'organization',
    presentation: 'flat',
    allowedUsers: [],
    organizationId,
  })
  for (const [key, value] of secrets) await globals.createGlobal(actor, server.id, key, { value, secret: true })
  await instances.createInstance(actor, server.id, { toolId: tool.id, name: definition.name, bindings: {} })
  return server.id
}
