import { createTokenCounter } from '../../lib/tokens/token-counter.ts'
import type { DefaultBinding } from '../../templates/check-value.ts'
import type { DraftVariable } from '../../tools/import/draft-parameters.ts'
import type { MappedSource } from '../mapped-source.ts'
import type { ImportedOperation, RefusedOperation } from '../openapi/imported-operation.ts'
import { createOperations, type DraftedRequest } from './draft-operation.ts'
import { createProposedGlobals, type ProposedGlobals } from './proposed-globals.ts'

/** Returns the values of the secrets that were found, which no text of an operation may contain. */
const secretsOf = (drafts: readonly DraftedRequest[]): readonly string[] =>
  drafts.flatMap(({ draft, credentials }) => [...draft.secrets.map(({ value }) => value), ...credentials])

type BindingOf<Drafted> = (variable: DraftVariable, drafted: Drafted) => DefaultBinding | undefined

/** Variables in places of secrets are bound to secrets; the model supplies all others. */
export const bindSecrets =
  (globals: ProposedGlobals): BindingOf<DraftedRequest> =>
  ({ isSecret, parameter }, { draft }) => {
    if (!isSecret) return undefined
    return { source: 'server', key: globals.secretKey({ value: '', parameter }, draft.definition.url), secret: true }
  }

/** Turns drafts into operations. `bindings` decides where the values of variables come from. */
export const importDrafts = async <Drafted extends DraftedRequest>(
  drafts: readonly (Drafted | RefusedOperation)[],
  bindings: (globals: ProposedGlobals) => BindingOf<Drafted>,
  knownSecrets: readonly string[] = [],
): Promise<Pick<MappedSource, 'operations' | 'globals'>> => {
  const globals = createProposedGlobals()
  const secrets = [...knownSecrets, ...secretsOf(drafts.filter(draft => 'draft' in draft))]
  const context = { globals, bindingOf: bindings(globals), secrets, count: createTokenCounter() }
  const toOperation = createOperations<Drafted>(context)
  const operations: ImportedOperation[] = []
  for (const draft of drafts) operations.push('draft' in draft ? await toOperation(draft) : draft)
  return { operations, globals: globals.used() }
}
