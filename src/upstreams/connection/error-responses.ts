import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { removeHidden } from '../catalogue/hidden-text.ts'
import { mcpClient } from './mcp-client.ts'

/** JSON-RPC 2.0 §5.1. */
export const INVALID_PARAMS = -32_602
/** The code for an unknown resource until 2025-11-25 (server/resources, "Error Handling"). */
export const RESOURCE_NOT_FOUND = -32_002
/** The code for a request that needs a capability that the client did not declare (2026-07-28, basic). */
const MISSING_CAPABILITY = -32_021

/** Maximum length of an upstream's error message in the state of its connection. */
export const MAX_STATE_ERROR_CHARS = 300
/** Maximum length of an upstream's error message in the response to a request. */
export const MAX_ERROR_CHARS = 2_000
/** Maximum length of the capabilities that an error names, as JSON. */
const MAX_CAPABILITIES_CHARS = 2_000

/** What version 1 of the SDK writes before the message of an error, on both sides of a connection. */
const SDK_PREFIX = /^(?:MCP error -?\d{1,10}: )+/
/** Removes the error's code from its message, because whoever shows the message adds the code. */
export const withoutCode = (message: string): string => message.replace(SDK_PREFIX, '')

/** Returns the JSON-RPC error that an upstream responded with, if any. `hide` masks secrets. */
export const findErrorResponse = (
  error: unknown,
  hide: (text: string) => string,
): { code: number; message: string } | undefined =>
  error instanceof mcpClient().ProtocolError
    ? { code: error.code, message: hide(withoutCode(removeHidden(error.message))).slice(0, MAX_ERROR_CHARS) }
    : undefined

const dataOf = (error: unknown): JsonObject => {
  const data: unknown = error instanceof mcpClient().ProtocolError ? error.data : undefined
  return isJsonObject(data) ? data : {}
}

/**
 * Returns the data of an error that names capabilities that the client lacks, without them if they are too long.
 * Undefined for any other error.
 */
export const findMissingCapabilities = (error: unknown): JsonObject | undefined => {
  if (!(error instanceof mcpClient().ProtocolError) || error.code !== MISSING_CAPABILITY) return undefined
  const { requiredCapabilities } = dataOf(error)
  const isUsable =
    isJsonObject(requiredCapabilities) && JSON.stringify(requiredCapabilities).length <= MAX_CAPABILITIES_CHARS
  return isUsable ? { requiredCapabilities } : {}
}

/**
 * Returns whether an upstream that was asked for a resource does not have it. 2026-07-28 has no code for this, but the
 * error's data names the URI.
 */
export const isResourceNotFound = (error: unknown): boolean =>
  error instanceof mcpClient().ProtocolError &&
  (error.code === RESOURCE_NOT_FOUND || (error.code === INVALID_PARAMS && typeof dataOf(error).uri === 'string'))
