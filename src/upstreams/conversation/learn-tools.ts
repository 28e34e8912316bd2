import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'
import { cleanItems, createFlags } from '../catalogue/clean-items.ts'
import { Anything } from '../connection/anything.ts'
import type { UpstreamConnection } from '../connection/connection.ts'

/** Pages of one client's list, and all of them as JSON, in characters; what is beyond stays unlisted. */
const MAX_PAGES = 20
const MAX_CHARS = 2 * 1_024 * 1_024

const Items = z.array(z.custom<JsonObject>(isJsonObject))

/** The tools that an upstream has for a client that can be asked: there may be some that nobody else sees. */
export const learnTools = async (connection: UpstreamConnection): Promise<readonly CatalogueItem[]> => {
  const items: JsonObject[] = []
  let cursor: string | undefined
  let chars = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const found = await connection.run((client, options) =>
      client.request({ method: 'tools/list', params }, Anything, options),
    )
    chars += JSON.stringify(found.tools ?? []).length
    if (chars > MAX_CHARS) break
    items.push(...Items.parse(found.tools))
    if (typeof found.nextCursor !== 'string' || found.nextCursor === cursor) break
    cursor = found.nextCursor
  }
  return cleanItems('tool', items, createFlags(), connection.secrets?.() ?? [])
}
