/**
 * `npm run clients`: whether third-party clients and MCP servers from npm work with this checkout. Exits with 1 if one of
 * them does not work.
 */
import { parseArgs } from 'node:util'
import { createBench } from '../../bench/bench.ts'
import { readCheckouts } from '../../bench/checkouts.ts'
import { parseOptions } from '../../bench/options.ts'
import { createHostedServer, createToken, signUp, startPatchbay } from '../../bench/patchbay.ts'
import { renderTable } from '../../bench/report.ts'
import { TOOLS, WORKS } from '../../bench/tools.ts'
import { CLIENTS } from './client-table.ts'
import { compareServer } from './compare-server.ts'
import { installPackages, versionOf } from './packages.ts'
import { SERVERS } from './server-table.ts'
import { useClient } from './use-client.ts'

const USAGE = `Usage: npm run clients -- [options]
  --only NAME   clients or servers (default: both)
  --name TEXT   only those whose name contains this text`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    name: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})

const isWanted = (part: string): boolean => values.only === undefined || values.only === part
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
const isNamed = ({ name }: { name: string }): boolean => name.includes(values.name)

const run = async (): Promise<number> => {
  installPackages()
  const options = parseOptions([])
  if (options === undefined) throw new Error('the benchmark has no default options')
  const bench = createBench(options, await readCheckouts(undefined))
  const faults: string[] = []
  try {
    const api = await bench.startOwn('fake-api', 'load')
    const directory = bench.createDirectory('patchbay')
    const settings = { PATCHBAY_ALLOW_STDIO: 'true' }
    const { port } = await startPatchbay(bench, bench.own, directory, settings, 'both')
    const send = await signUp(port)

    if (isWanted('clients')) {
      const { uuid, path } = await createHostedServer(send, api.url, TOOLS)
      await send('PATCH', `/servers/${uuid}`, { access: 'private' })
      const expected = {
        url: `http://127.0.0.1:${port}${path}`,
        token: await createToken(send, ['mcp']),
        tools: TOOLS.map(({ name }) => name),
        text: WORKS.user.expected,
      }
      const rows: string[][] = []
      for (const client of CLIENTS.filter(isNamed)) {
        bench.log(`-- ${client.title}`)
        const used = await useClient(client, expected)
        if ('fault' in used) faults.push(`${client.title}: ${used.fault}`)
        rows.push([client.title, versionOf(client.name), 'did' in used ? used.did : 'FAILED'])
      }
      console.log(`\n${renderTable({ title: 'Clients', columns: ['', 'version', ''], rows })}`)
    }

    if (isWanted('servers')) {
      const folders = bench.createDirectory('folders')
      const rows: string[][] = []
      for (const server of SERVERS.filter(isNamed)) {
        bench.log(`-- ${server.name}`)
        const { tools, calls, unchecked, differences } = await compareServer(server, { port, send, folders }).catch(
          error => ({ tools: 0, calls: 0, unchecked: 0, differences: [messageOf(error)] }),
        )
        faults.push(...differences.map(difference => `${server.name}: ${difference}`))
        const verdict = differences.length === 0 ? 'as directly' : `${differences.length} DIFFERENCES`
        rows.push([server.name, versionOf(server.name), String(tools), String(calls), String(unchecked), verdict])
      }
      const columns = ['', 'version', 'tools', 'calls', 'without output schema', '']
      console.log(`\n${renderTable({ title: 'MCP servers', columns, rows })}`)
    }
  } finally {
    await bench.close()
  }
  if (faults.length > 0) console.log(`\n${faults.join('\n')}`)
  return faults.length === 0 ? 0 : 1
}

if (values.help) console.log(USAGE)
else process.exitCode = await run()
