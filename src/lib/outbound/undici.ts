import buildUndiciConnector from 'undici/lib/core/connect.js'
import errors from 'undici/lib/core/errors.js'
import Client from 'undici/lib/dispatcher/client.js'

// The package as a whole also has fetch, caches and mocks: 4 MB of memory, and nothing here uses them.
export { buildUndiciConnector, Client, errors }
