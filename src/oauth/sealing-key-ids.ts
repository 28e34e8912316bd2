import type { Transaction } from '../platform/db/index.ts'
import { listClientSealingKeyIds } from './known-clients.store.ts'
import { listSigningSealingKeyIds } from './signing-keys.store.ts'

/** Ids of the master keys that sealed something of the authorization server: none of them may be dropped. */
export const listOAuthSealingKeyIds = async (tx: Transaction): Promise<string[]> => [
  ...(await listClientSealingKeyIds(tx)),
  ...(await listSigningSealingKeyIds(tx)),
]
