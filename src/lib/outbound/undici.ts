import { createRequire } from 'node:module'
import type * as undici from 'undici'

/**
 * The parts of undici that requests go through. The package as a whole brings fetch, caches and mocks, which take 4 MB
 * and which nothing here uses.
 */
const require = createRequire(import.meta.url)

export type Client = undici.Client
export const Client: typeof undici.Client = require('undici/lib/dispatcher/client.js')
export const buildUndiciConnector: typeof undici.buildConnector = require('undici/lib/core/connect.js')
export const errors: typeof undici.errors = require('undici/lib/core/errors.js')
