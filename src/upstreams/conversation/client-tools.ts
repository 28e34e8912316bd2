import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'
import { cleanItems, createFlags } from '../catalogue/clean-items.ts'
import { AnyResult } from '../connection/any-result.ts'
import type { UpstreamConnection } from '../connection/connection.ts'

/** Pages and size (as JSON, in characters) of one client's list; the rest is dropped. */
const MAX_PAGES = 20
const MAX_CHARS = 2 * 1_024 * 1_024

const Items = z.array(z.custom<JsonObject>(isJsonObject))

/** Fetches the tools that an upstream offers this client; there may be some that nobody else sees. */
export const fetchClientTools = async (connection: UpstreamConnection): Promise<readonly CatalogueItem[]> => {
  const items: JsonObject[] = []
  let cursor: string | undefined
  let chars = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const found = await connection.run((client, options) =>
      client.request({ method: 'tools/list', params }, AnyResult, options),
    )
    chars += JSON.stringify(found.tools ?? []).length
    if (chars > MAX_CHARS) break
    items.push(...Items.parse(found.tools))
    if (typeof found.nextCursor !== 'string' || found.nextCursor === cursor) break
    cursor = found.nextCursor
  }
  return cleanItems('tool', items, createFlags(), connection.secrets?.() ?? [])
}
