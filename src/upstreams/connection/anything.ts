import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'

/** The schema of results as they are passed on: our own, so that nothing of one is lost or looked at. */
export const Anything = z.custom<JsonObject>(isJsonObject)
