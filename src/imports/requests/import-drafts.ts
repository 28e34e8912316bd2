import { createTokenCounter } from '../../lib/tokens/token-counter.ts'
import type { DefaultBinding } from '../../templates/check-value.ts'
import type { DraftVariable } from '../../tools/import/draft-parameters.ts'
import type { MappedSource } from '../mapped-source.ts'
import type { ImportedOperation, RefusedOperation } from '../openapi/imported-operation.ts'
import { plainText } from '../openapi/texts.ts'
import { createOperations, type DraftedRequest } from './draft-operation.ts'
import { createHiding } from './hide-secrets.ts'
import { createProposedGlobals, type ProposedGlobals } from './proposed-globals.ts'

const MAX_TITLE_CHARS = 120

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

/**
 * Turns drafts into operations. `bindings` decides where the values of variables come from. `secrets` are those that are
 * not in a draft.
 */
export const importDrafts = async <Drafted extends DraftedRequest>(
  drafts: readonly (Drafted | RefusedOperation)[],
  bindings: (globals: ProposedGlobals) => BindingOf<Drafted>,
  { title = '', secrets = [] }: { title?: string | undefined; secrets?: readonly string[] } = {},
): Promise<Pick<MappedSource, 'title' | 'operations' | 'globals'>> => {
  const globals = createProposedGlobals()
  const hiding = createHiding([...secrets, ...secretsOf(drafts.filter(draft => 'draft' in draft))])
  const context = { globals, bindingOf: bindings(globals), hiding, count: createTokenCounter() }
  const toOperation = createOperations<Drafted>(context)
  const operations: ImportedOperation[] = []
  for (const draft of drafts) operations.push(await toOperation(draft))
  return {
    title: plainText(hiding.hide(title), MAX_TITLE_CHARS) || undefined,
    operations,
    globals: globals.used(),
  }
}
