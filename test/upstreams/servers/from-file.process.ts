/** A stdio server that reads its tools from the file given as its argument, again for every request. */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const answer = (id: unknown, result: object): boolean =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)

const serverInfo = { name: 'from-file', version: '1' }

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
  else if (method === 'tools/list') answer(id, { tools: JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) })
  else if (method === 'tools/call') answer(id, { content: [{ type: 'text', text: `called ${params.name}` }] })
  else if (id !== undefined) {
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Unknown' } })}\n`)
  }
})
