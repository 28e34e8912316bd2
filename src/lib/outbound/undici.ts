import buildUndiciConnector from 'undici/lib/core/connect.js'
import errors from 'undici/lib/core/errors.js'
import Client from 'undici/lib/dispatcher/client.js'

// The whole package would also replace the dispatcher of Node's own fetch, and take 4.5 MB (ADR 15).
export { buildUndiciConnector, Client, errors }
