/** The servers that receive the same load in turns. */
import type { Bench } from './bench.ts'
import type { Checkout } from './checkouts.ts'
import type { Endpoint, Era } from './mcp.ts'
import { createHostedServer, type HostedServer, type Send, signUp, startPatchbay } from './patchbay.ts'
import type { Child } from './process.ts'
import { TOOLS } from './tools.ts'

export type Target = {
  name: string
  child: Child
  endpoint: Endpoint
  era: Era
  /** Undefined for the servers that Patchbay is compared with. */
  checkout: Checkout['name'] | undefined
}
export type PatchbayTargets = {
  session: Target
  stateless: Target
  databaseFile: string
  send: Send
  hosted: HostedServer
}

/** Returns a name that is unique among the targets of both checkouts. */
export const nameOf = ({ name, checkout }: Target): string => (checkout === 'other' ? `${name} (other checkout)` : name)

/** Starts the floor. `prefix` is prepended to the names of the tools that it lists. */
export const startFloor = async (bench: Bench, apiUrl: string, prefix = ''): Promise<Target> => {
  const { child, port } = await bench.startOwn('floor', 'server', ['--api', apiUrl, '--prefix', prefix])
  return { name: 'floor', child, endpoint: { port, path: '/mcp' }, era: 'session', checkout: undefined }
}

/** Starts a checkout with a new database and adds the 20 tools through its API. */
export const startTargets = async (bench: Bench, checkout: Checkout, apiUrl: string): Promise<PatchbayTargets> => {
  const directory = bench.createDirectory('patchbay')
  const { child, port } = await startPatchbay(bench, checkout, directory)
  const send = await signUp(port)
  const hosted = await createHostedServer(send, apiUrl, TOOLS)
  const target = (era: Era): Target => ({
    name: `patchbay, ${era} era`,
    child,
    endpoint: { port, path: hosted.path },
    era,
    checkout: checkout.name,
  })
  return {
    session: target('session'),
    stateless: target('stateless'),
    databaseFile: `${directory}/patchbay.db`,
    send,
    hosted,
  }
}

/** Starts every checkout, one after the other. */
export const startAllTargets = async (bench: Bench, apiUrl: string): Promise<PatchbayTargets[]> => {
  const started: PatchbayTargets[] = []
  for (const checkout of bench.checkouts) started.push(await startTargets(bench, checkout, apiUrl))
  return started
}

export const startSdk = async (bench: Bench, apiUrl: string): Promise<Target[]> => {
  const { child, port } = await bench.startOwn('sdk-server', 'server', ['--api', apiUrl])
  const endpoint = { port, path: '/mcp' }
  return (['session', 'stateless'] as const).map(era => ({
    name: `SDK server, ${era} era`,
    child,
    endpoint,
    era,
    checkout: undefined,
  }))
}
