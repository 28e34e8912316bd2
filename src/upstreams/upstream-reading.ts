import type { Database, Transaction } from '../lib/db/client.ts'
import { listWarnings } from './config/plain-http.ts'
import { findOriginOf, keysOfConfig } from './config/resolve-config.ts'
import type { AccountInfo } from './oauth-client/account.ts'
import { listSharedAccounts } from './oauth-client/accounts.store.ts'
import type { ConfiguredSecret, UpstreamClients } from './oauth-client/upstream-clients.ts'
import { isOAuth, type Upstream } from './upstream.ts'

/** Lists the globals of a server. `value` is undefined for a secret. */
export type ListGlobals = (
  tx: Transaction,
  serverId: string,
) => Promise<readonly { key: string; isSecret: boolean; value?: string }[]>

export type UpstreamWithGlobals = {
  upstream: Upstream
  /** Globals that the upstream uses but its server does not have. */
  missingGlobals: readonly string[]
  /** Warnings about where the upstream's secrets are sent. */
  warnings: readonly string[]
  /** When the builder's client secret was entered. Undefined if it must be entered again. */
  clientSecretSetAt?: Date | undefined
  /** The account that all callers share. */
  account?: AccountInfo | undefined
}

export const createValueLookup = (globals: readonly { key: string; value?: string }[]) => {
  const values = new Map(globals.map(({ key, value }) => [key, value]))
  return (key: string): string | undefined => values.get(key)
}

/** Returns the upstream's origin if its client secret must be entered again for it. */
const findLostFor = (secret: ConfiguredSecret, origin: string | undefined): string | undefined =>
  origin !== undefined && secret.mustBeEnteredFor(origin) ? origin : undefined

const enterSecretAgain = (origin: string): string =>
  `The client secret is not sent, because it may have been entered for another address. If ${origin} is correct, enter the secret again.`

/** Creates the functions that add the state of globals, client secrets and accounts to upstreams. */
export const createUpstreamReading = ({
  db,
  listGlobals,
  clients,
}: {
  db: Database
  listGlobals: ListGlobals
  clients: Pick<UpstreamClients, 'listConfigured'>
}) => {
  /** The upstreams must be those of one server, whose globals are read only once. */
  const withGlobals = async (serverId: string, upstreams: readonly Upstream[]): Promise<UpstreamWithGlobals[]> => {
    const globals = await listGlobals(db, serverId)
    const isSecretByKey = new Map(globals.map(({ key, isSecret }) => [key, isSecret]))
    const findValue = createValueLookup(globals)
    const authorized = upstreams.flatMap(({ id, config }) => (isOAuth(config.auth) ? id : []))
    const [secrets, accounts] = await Promise.all([
      clients.listConfigured(db, authorized),
      listSharedAccounts(db, authorized),
    ])
    return upstreams.map(upstream => {
      const { id, config } = upstream
      const secret = secrets.get(id)
      const lostFor = secret && findLostFor(secret, findOriginOf(config, findValue))
      return {
        upstream,
        missingGlobals: keysOfConfig(config).filter(key => !isSecretByKey.has(key)),
        warnings: [
          ...listWarnings(config, key => isSecretByKey.get(key) === true),
          ...(lostFor === undefined ? [] : [enterSecretAgain(lostFor)]),
        ],
        clientSecretSetAt: lostFor === undefined ? secret?.enteredAt : undefined,
        account: accounts.get(id),
      }
    })
  }

  const withOwnGlobals = async (upstream: Upstream): Promise<UpstreamWithGlobals> => ({
    upstream,
    missingGlobals: [],
    warnings: [],
    ...(await withGlobals(upstream.serverId, [upstream]))[0],
  })

  return { withGlobals, withOwnGlobals }
}
