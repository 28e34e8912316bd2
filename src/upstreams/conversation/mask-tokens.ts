import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { hideSecrets } from '../catalogue/clean-items.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { maskSecrets } from '../connection/output-log.ts'

type Shown = { connection: Pick<UpstreamConnection, 'secrets'> }

const tokensOf = ({ connection }: Shown): readonly string[] => connection.secrets?.() ?? []

/** Masks the account tokens that this connection has used. */
export const maskTokens = (own: Shown, message: JsonObject): JsonObject => hideSecrets(message, tokensOf(own))

export const maskTokensInOutcome = async (own: Shown, outcome: Promise<JsonObject>): Promise<JsonObject> => {
  try {
    return maskTokens(own, await outcome)
  } catch (error) {
    const { ProtocolError } = mcpClient()
    if (!(error instanceof ProtocolError)) throw error
    const data: unknown = error.data
    const message = maskSecrets(error.message, tokensOf(own))
    throw new ProtocolError(error.code, message, isJsonObject(data) ? maskTokens(own, data) : undefined)
  }
}
