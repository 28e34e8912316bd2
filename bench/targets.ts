/** The servers that the same load goes to, in turns. */
import type { Bench } from './bench.ts'
import type { Endpoint, Era } from './mcp.ts'
import { createHostedServer, type HostedServer, type Send, signUp, startPatchbay } from './patchbay.ts'
import type { Child } from './process.ts'
import { TOOLS } from './tools.ts'

export type Target = { name: string; child: Child; endpoint: Endpoint; era: Era; isOurs: boolean }
export type OwnTargets = {
  floor: Target
  ours: { session: Target; stateless: Target }
  databaseFile: string
  send: Send
  hosted: HostedServer
}

/** `prefix`: before the names of the tools that it lists. */
export const startFloor = async (bench: Bench, apiUrl: string, prefix = ''): Promise<Target> => {
  const { child, port } = await bench.startOwn('floor', 'server', ['--api', apiUrl, '--prefix', prefix])
  return { name: 'floor', child, endpoint: { port, path: '/mcp' }, era: 'session', isOurs: false }
}

/** Patchbay on a new database, set up with the 20 tools through its API. */
export const startOurs = async (bench: Bench, apiUrl: string): Promise<Omit<OwnTargets, 'floor'>> => {
  const directory = bench.createDirectory('patchbay')
  const { child, port } = await startPatchbay(bench.rig, bench.options, directory)
  const send = await signUp(port)
  const hosted = await createHostedServer(send, apiUrl, TOOLS)
  const target = (era: Era): Target => ({
    name: `patchbay, ${era} era`,
    child,
    endpoint: { port, path: hosted.path },
    era,
    isOurs: true,
  })
  const ours = { session: target('session'), stateless: target('stateless') }
  return { ours, databaseFile: `${directory}/patchbay.db`, send, hosted }
}

export const startSdk = async (bench: Bench, apiUrl: string): Promise<Target[]> => {
  const { child, port } = await bench.startOwn('sdk-server', 'server', ['--api', apiUrl])
  const endpoint = { port, path: '/mcp' }
  return (['session', 'stateless'] as const).map(era => ({
    name: `SDK server, ${era} era`,
    child,
    endpoint,
    era,
    isOurs: false,
  }))
}
