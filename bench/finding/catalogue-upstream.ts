/**
 * An MCP server over stdio that lists the frozen catalogue, all of it if the argument is `whole`. Its tools cannot be
 * called.
 */
import { createInterface } from 'node:readline'
import { WHOLE } from './asking.ts'
import { listCatalogue } from './catalogue.ts'

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'catalogue', version: '0' },
  },
  'tools/list': { tools: listCatalogue(process.argv[2] === WHOLE) },
}

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = RESULTS[method]
  const outcome = result === undefined ? { error: { code: -32_601, message: 'method not found' } } : { result }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`)
})
