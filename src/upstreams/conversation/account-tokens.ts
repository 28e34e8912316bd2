import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { hideSecrets } from '../catalogue/clean-items.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import { maskSecrets } from '../connection/output-log.ts'

type Shown = { connection: Pick<UpstreamConnection, 'secrets'> }

const tokensOf = ({ connection }: Shown): readonly string[] => connection.secrets?.() ?? []

/** What an upstream says, without the tokens that it was shown over this connection. */
export const withoutTokens = (own: Shown, said: JsonObject): JsonObject => hideSecrets(said, tokensOf(own))

/** As `withoutTokens`, of what a request comes to: a result, or an error that the upstream answered. */
export const withTokensHidden = async (own: Shown, outcome: Promise<JsonObject>): Promise<JsonObject> => {
  try {
    return withoutTokens(own, await outcome)
  } catch (error) {
    const { ProtocolError } = mcpClient()
    if (!(error instanceof ProtocolError)) throw error
    const data: unknown = error.data
    const message = maskSecrets(error.message, tokensOf(own))
    throw new ProtocolError(error.code, message, isJsonObject(data) ? withoutTokens(own, data) : undefined)
  }
}
