import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'

/** Accepts any object, so that results are passed on complete. The SDK's schemas drop members that they do not know. */
export const AnyResult = z.custom<JsonObject>(isJsonObject)
