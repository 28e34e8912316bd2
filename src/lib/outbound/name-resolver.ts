import type { LookupAddress } from 'node:dns'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../cache/single-flight.ts'
import { once } from '../kernel/once.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { createStop, type Stop, type StopSignal } from '../kernel/stop-signal.ts'
import { AbortedError, createFairQueue, type FindCreator, QueueFullError, type Tenant } from '../worker/fair-queue.ts'
import type { OutboundLookup } from './connector.ts'
import { type DnsAnswer, queryAddresses } from './dns-query.ts'
import { parseHosts, parseSearchDomains } from './hosts-file.ts'
import { NameError } from './name-error.ts'
import { createParsedFile } from './parsed-file.ts'
import { createSystemResolver, type SystemResolver, systemResolver } from './system-resolver.ts'

/** Deadline of a lookup, including the time it waits for others. */
const LOOKUP_DEADLINE_MS = 5_000
/** Maximum queries of an organization in progress. Silent name servers of one cannot delay the others. */
const MAX_QUERIES_PER_ORGANIZATION = 8
/** The same for all organizations that one user created. */
const MAX_QUERIES_PER_CREATOR = 16
const MAX_WAITING_PER_ORGANIZATION = 500
/** Maximum queries in progress. Local name servers accept 100 or more, and each query has two, one per family. */
const MAX_QUERIES = 48
/** Maximum addresses and failures in the cache. */
const MAX_CACHED = 10_000
/** Longest time that addresses are cached, whatever their TTL. */
const MAX_CACHE_MS = 60_000
/** How long failures are cached, and addresses of one family while the other has not answered. */
const SHORT_CACHE_MS = 5_000
/** The group of lookups that belong to no organization. */
const NO_ORGANIZATION = ''
/** Domains that name servers do not serve (RFC 6761 §6.3, RFC 6762 §3). */
const LOCAL_DOMAINS = ['localhost', 'local']

export type NameResolverOptions = {
  /** Whether to ask the system's resolver for names that the name servers do not know. */
  usesSystem: boolean
  /** Addresses of name servers, with a port if it is not 53. Default: those of the system. */
  servers?: readonly string[] | undefined
  /** Returns who created an organization, or undefined if nobody is known. Never rejects. */
  findCreator?: FindCreator
  hostsPath?: string
  resolvConfPath?: string
  system?: SystemResolver
  deadlineMs?: number
  /** Time of a monotonic clock in milliseconds, greater than 0. */
  now?: () => number
}

/**
 * Returns all addresses of a name, looked up on behalf of an organization. Throws NameError, or an error of
 * getaddrinfo.
 */
export type ResolveName = (hostname: string, organizationId: string | undefined) => Promise<LookupAddress[]>

type Outcome = Result<readonly LookupAddress[], Error>

const missing = (name: string, exists = false): Outcome =>
  failure(new NameError(`the name ${name} ${exists ? 'has no address' : 'does not exist'}; check the host in the URL`))

const toOutcome = (name: string, answer: DnsAnswer, deadlineMs: number): Outcome => {
  switch (answer.kind) {
    case 'addresses':
      return success(answer.addresses)
    case 'missing':
      return missing(name, answer.exists)
    case 'silent': {
      const text = `the name servers for ${name} did not answer within ${deadlineMs / 1_000} s`
      return failure(new NameError(`${text}; check the host in the URL, or try again`))
    }
    case 'failed':
      return failure(new NameError(`the name servers could not resolve ${name} (${answer.code}); try again`))
  }
}

const cacheMsOf = (answer: DnsAnswer): number =>
  answer.kind === 'addresses'
    ? Math.min(answer.ttlMs, answer.isComplete ? MAX_CACHE_MS : SHORT_CACHE_MS)
    : SHORT_CACHE_MS

const isUnknown = (error: Error): boolean => 'code' in error && error.code === 'ENOTFOUND'

/** Whether work was refused by a queue, so that it never started. */
const isRefused = (error: unknown): boolean => error instanceof AbortedError || error instanceof QueueFullError

/** Resolves like `work`, or with undefined if `signal` aborts first. A queue that refuses the work then goes first. */
const orStopped = <Value>(work: Promise<Value>, signal: StopSignal): Promise<Value | undefined> => {
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>()
  signal.addEventListener('abort', () => setImmediate(resolve, undefined), { once: true })
  return Promise.race([work, stopped])
}

/**
 * Creates the resolver for the names that tenants choose. It reads the hosts file, then asks the name servers with
 * c-ares, which blocks no thread and can be cancelled. Only names that are not in the DNS go to the system's resolver.
 */
export const createNameResolver = ({
  usesSystem,
  servers,
  findCreator = () => undefined,
  hostsPath = '/etc/hosts',
  resolvConfPath = '/etc/resolv.conf',
  system = systemResolver(),
  deadlineMs = LOOKUP_DEADLINE_MS,
  now = () => performance.now(),
}: NameResolverOptions): { resolve: ResolveName } => {
  const hosts = createParsedFile(hostsPath, parseHosts)
  const searchDomains = createParsedFile(resolvConfPath, parseSearchDomains)
  const cache = new LRUCache<string, DnsAnswer>({
    maxSize: MAX_CACHED,
    sizeCalculation: answer => (answer.kind === 'addresses' ? answer.addresses.length : 1),
    ttlResolution: 0,
    perf: { now },
  })
  const queries = createSingleFlight<DnsAnswer>()
  const queue = createFairQueue({
    maxRunning: MAX_QUERIES,
    maxRunningOfOwner: MAX_QUERIES_PER_ORGANIZATION,
    maxRunningOfGroup: MAX_QUERIES_PER_ORGANIZATION,
    maxRunningOfCreator: MAX_QUERIES_PER_CREATOR,
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitingOfOwner: MAX_WAITING_PER_ORGANIZATION,
    maxWaitingOfGroup: MAX_WAITING_PER_ORGANIZATION,
  })

  const isForSystem = (name: string): boolean =>
    !name.includes('.') || [...LOCAL_DOMAINS, ...searchDomains()].some(domain => name.endsWith(`.${domain}`))

  const query = (name: string, { creator, group }: Tenant): Promise<DnsAnswer> =>
    queries.run(name, async () => {
      const answer = await queryAddresses(name, { servers, deadlineMs })
      // Creators whose name servers are silent share half of all lookups.
      if (answer.kind === 'silent') queue.markSlow(creator ?? group)
      const ttl = cacheMsOf(answer)
      // An entry with a TTL of 0 would never expire.
      if (ttl > 0) cache.set(name, answer, { ttl })
      return answer
    })

  const tenantOf = async (organization: string): Promise<Tenant> => ({
    owner: organization,
    group: organization,
    creator: organization === NO_ORGANIZATION ? undefined : await findCreator(organization),
  })

  const askServers = async (name: string, tenant: Tenant, stop: Stop): Promise<DnsAnswer> => {
    const start = async () => cache.get(name) ?? query(name, tenant)
    // Queries in progress end in time and are shared. What waits behind other lookups of its organization is not.
    const answer = queries.find(name) ?? queue.run(tenant, start, stop)
    try {
      return (await orStopped(answer, stop)) ?? { kind: 'silent' }
    } catch (error) {
      if (!isRefused(error)) throw error
      const owner = tenant.group === NO_ORGANIZATION ? '' : ' of this organization'
      throw new NameError(`too many name lookups${owner} are in progress; try again when they have ended`)
    }
  }

  const askSystem = async (name: string, tenant: Tenant, stop: Stop): Promise<Outcome> => {
    try {
      const outcome = await orStopped(system.lookUp(name, tenant, stop), stop)
      if (outcome === undefined) {
        const text = `the system's resolver did not answer for ${name} within ${deadlineMs / 1_000} s`
        return failure(new NameError(`${text}; check the host in the URL, or try again`))
      }
      return !outcome.ok && isUnknown(outcome.error) ? missing(name) : outcome
    } catch (error) {
      if (!isRefused(error)) throw error
      throw new NameError("the system's resolver is busy with other names; try again")
    }
  }

  const lookUp = async (name: string, organization: string): Promise<Outcome> => {
    const stop = createStop()
    const timer = setTimeout(stop.abort, deadlineMs)
    try {
      const tenant = await tenantOf(organization)
      if (isForSystem(name.replace(/\.$/, ''))) return await askSystem(name, tenant, stop)
      const answer = cache.get(name) ?? (await askServers(name, tenant, stop))
      if (answer.kind !== 'missing' || !usesSystem) return toOutcome(name, answer, deadlineMs)
      return await askSystem(name, tenant, stop)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    resolve: async (hostname, organizationId = NO_ORGANIZATION) => {
      const name = hostname.toLowerCase()
      const listed = hosts().get(name.replace(/\.$/, ''))
      if (listed !== undefined) return [...listed]
      const outcome = await lookUp(name, organizationId)
      if (!outcome.ok) throw outcome.error
      return [...outcome.value]
    },
  }
}

/** Turns a resolver into the function that sockets call. */
export const toLookup =
  (resolve: ResolveName): OutboundLookup =>
  (hostname, _options, callback, organizationId) => {
    resolve(hostname, organizationId).then(
      addresses => callback(null, addresses),
      (error: Error) => callback(error, []),
    )
  }

/** Returns the lookup for addresses that the operator configured, which do not wait for lookups of tenants. */
export const operatorLookup = once(() =>
  toLookup(createNameResolver({ usesSystem: true, system: createSystemResolver() }).resolve),
)
