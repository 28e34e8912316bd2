import { type KnownSizes, type ResponseSizes, SIZE_DAYS } from '../../history/response-sizes.store.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Instance, Server, ServerUse } from '../server.ts'

/** Minimum number of 2xx responses of a tool that count as proof of their size. */
const MIN_RESPONSES = 5
/** Largest share of its budget that a response of a small tool takes. */
const SMALL_SHARE = 1 / 4

type Reason =
  | { kind: 'chosen' }
  /** No result of the server can be cut. */
  | { kind: 'unlimited' }
  | { kind: 'upstreams' }
  | { kind: 'cut' | 'large'; tool: string }
  | { kind: 'unproved'; tool: string; count: number }
  | { kind: 'small' }

/** Whether clients see the tools that read cut results, and why. */
export type CutResultListing = { isListed: boolean; reason: Reason }

/** Finds the listing of a server's tools for cut results. The caller checks access. */
export type FindCutResultListing = (serverId: string) => Promise<CutResultListing | undefined>

const NOTHING: ResponseSizes = { succeeded: 0, largest: 0 }

/** What the listing depends on of an instance. Of the output schema, only whether there is one. */
export type LimitedInstance = Pick<Instance, 'name' | 'isEnabled' | 'maxResponseTokens'> & {
  tool: Pick<Tool, 'id' | 'url'> & { outputSchema?: unknown }
}

/** What the listing depends on. */
export type ListingBasis = {
  server: Pick<Server, 'cutResultTools' | 'maxResponseTokens'>
  instances: readonly LimitedInstance[]
  use: ServerUse
}

/** Returns the token budget of an instance's results, or 0 if they are never cut. */
const budgetOf = (serverTokens: number, { maxResponseTokens, tool }: LimitedInstance): number =>
  maxResponseTokens ?? (tool.outputSchema === undefined ? serverTokens : 0)

/** Returns why the tools are listed, or that every tool has proved small. */
const judge = (
  instances: readonly LimitedInstance[],
  serverTokens: number,
  { ofCalls, ofSends, lastCut }: KnownSizes,
  isKnownSmall: (instance: LimitedInstance) => boolean,
): Reason => {
  if (lastCut !== undefined) return { kind: 'cut', tool: lastCut }
  const unproved: string[] = []
  for (const instance of instances) {
    const budget = budgetOf(serverTokens, instance)
    const calls = ofCalls.get(instance.name) ?? NOTHING
    const sends = ofSends.get(instance.tool.id) ?? NOTHING
    if (budget === 0 || isKnownSmall(instance)) continue
    if (Math.max(calls.largest, sends.largest) > budget * SMALL_SHARE) return { kind: 'large', tool: instance.name }
    if (calls.succeeded + sends.succeeded < MIN_RESPONSES) unproved.push(instance.name)
  }
  const [first] = unproved
  return first === undefined ? { kind: 'small' } : { kind: 'unproved', tool: first, count: unproved.length }
}

/** Decides whether clients see the tools that read cut results. `isKnownSmall` tells which tools need no proof. */
export const decideListing = (
  { server, instances: all, use }: ListingBasis,
  isKnownSmall: (instance: LimitedInstance) => boolean,
): CutResultListing => {
  const { cutResultTools, maxResponseTokens } = server
  const instances = all.filter(({ isEnabled }) => isEnabled)
  const cutsOwn = instances.some(instance => budgetOf(maxResponseTokens, instance) > 0)
  const cutsOthers = use.upstreams.some(({ hasBudgets }) => hasBudgets || maxResponseTokens > 0)
  if (!(cutsOwn || cutsOthers)) return { isListed: false, reason: { kind: 'unlimited' } }
  if (cutResultTools !== 'auto') return { isListed: cutResultTools === 'always', reason: { kind: 'chosen' } }
  if (use.sizes === undefined) return { isListed: true, reason: { kind: 'upstreams' } }
  const reason = judge(instances, maxResponseTokens, use.sizes, isKnownSmall)
  return { isListed: reason.kind !== 'small', reason }
}

/** Whether the listing may change although nobody changes the server. */
export const dependsOnUse = ({ reason }: CutResultListing): boolean =>
  !['chosen', 'unlimited', 'upstreams'].includes(reason.kind)

const explainReason = (reason: Reason): string => {
  switch (reason.kind) {
    case 'chosen':
      return 'as chosen'
    case 'unlimited':
      return 'because no result has a limit'
    case 'upstreams':
      return 'because a response of an attached MCP server can have any size'
    case 'cut':
      return `because a result of ${reason.tool} was cut in the last ${SIZE_DAYS} days`
    case 'large':
      return `because a response of ${reason.tool} took more than a quarter of its limit in the last ${SIZE_DAYS} days`
    case 'unproved':
      return reason.count === 1
        ? `because ${reason.tool} had fewer than ${MIN_RESPONSES} successful responses in the last ${SIZE_DAYS} days`
        : `because ${formatCount(reason.count, 'tool')}, such as ${reason.tool}, had fewer than ${MIN_RESPONSES} successful responses each in the last ${SIZE_DAYS} days`
    case 'small':
      return `because every tool had at least ${formatNumber(MIN_RESPONSES)} responses in the last ${SIZE_DAYS} days, none above a quarter of the limit`
  }
}

/** Explains in a sentence whether the tools are listed, and why. */
export const explainListing = ({ isListed, reason }: CutResultListing): string =>
  `The three tools for cut results are ${isListed ? 'listed' : 'not listed'}, ${explainReason(reason)}.`
