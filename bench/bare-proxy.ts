/**
 * A bare proxy that forwards everything unread, built on the library that passthrough servers use for upgrades.
 *
 *   node bench/bare-proxy.ts --port 9301 --target http://127.0.0.1:9201
 */
import { Agent } from 'node:http'
import { parseArgs } from 'node:util'
import { createProxyServer } from 'httpxy'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9301' },
    target: { type: 'string', default: 'http://127.0.0.1:9201' },
  },
})

createProxyServer({ target: values.target, agent: new Agent({ keepAlive: true }) }).listen(
  Number(values.port),
  '127.0.0.1',
)
