import type { Transaction } from '../lib/db/client.ts'
import { listClientSealingKeyIds } from './clients/known-clients.store.ts'
import { listSigningSealingKeyIds } from './signing-keys.store.ts'

/** Lists the ids of the master keys that sealed data of the authorization server. None of them may be dropped. */
export const listOAuthSealingKeyIds = async (tx: Transaction): Promise<string[]> => [
  ...(await listClientSealingKeyIds(tx)),
  ...(await listSigningSealingKeyIds(tx)),
]
