import type { DefaultBinding } from '../../templates/check-value.ts'
import type { DraftVariable } from '../../tools/import/draft-parameters.ts'
import { ownerOf } from '../../tools/import/secret-values.ts'
import { globalKeyOf, parameterNameOf } from '../openapi/names.ts'
import { holdsSecret as containsSecret } from '../openapi/texts.ts'
import type { DraftedRequest } from '../requests/draft-operation.ts'
import { isMember } from '../requests/members.ts'
import type { ProposedGlobals } from '../requests/proposed-globals.ts'
import type { CollectedItem } from './read-request.ts'
import { BASE_URL, isMissing } from './request-texts.ts'
import { type Scope, splitVariables } from './variables.ts'

export type DraftedItem = DraftedRequest & Pick<CollectedItem, 'origin'>

const BASE_KEY = 'base_url'

/** Requests with the same start of the URL share a global, however many variables a collection has for it. */
const startOf = ({ baseUrl, origin }: Pick<DraftedItem, 'baseUrl' | 'origin'>): string => baseUrl ?? origin

/** Names the global for another start of the URL: by the owner of its host, or its variable. */
const nameStart = (start: string): string => {
  const owner = ownerOf(start)
  if (owner !== undefined) return `${globalKeyOf(owner, 'other')}_base_url`
  const variable = splitVariables(start).flatMap(piece => ('name' in piece ? [piece.name] : []))[0]
  const key = globalKeyOf(variable ?? URL.parse(start)?.host ?? '', 'other')
  return /url|host/.test(key) ? key : `${key}_base_url`
}

/** Gives each start of a URL a global: `base_url` for the one that most requests have. */
const nameStarts = (items: readonly DraftedItem[], { claim }: ProposedGlobals): ReadonlyMap<string, string> => {
  const byStart = Map.groupBy(items, startOf)
  const starts = [...byStart].toSorted(([, one], [, other]) => other.length - one.length).map(([start]) => start)
  return new Map(starts.map((start, index) => [start, claim(index === 0 ? BASE_KEY : nameStart(start))]))
}

const isSecretIn = (items: readonly DraftedItem[]): ReadonlySet<string> =>
  new Set(
    items.flatMap(({ draft }) => draft.variables.filter(({ isSecret }) => isSecret).map(({ written }) => written)),
  )

/**
 * Decides where the values of Postman's variables come from. Variables with values become globals, and so do those for
 * credentials. The model supplies the others, and those that only scripts give a value.
 */
export const createBindings = (
  items: readonly DraftedItem[],
  { scope, setByScripts, globals }: { scope: Scope; setByScripts: ReadonlySet<string>; globals: ProposedGlobals },
) => {
  const keys = new Map<string, string>()
  const starts = nameStarts(items, globals)
  const secretNames = isSecretIn(items)

  const bindStart = (item: DraftedItem): DefaultBinding => {
    const key = starts.get(startOf(item)) ?? BASE_KEY
    const names = splitVariables(item.origin).flatMap(piece => ('name' in piece ? [piece.name] : []))
    const secret = names.some(scope.isSecret) || containsSecret(item.baseUrl ?? '')
    globals.put({ key, isSecret: secret, value: item.baseUrl })
    return { source: 'server', key, secret }
  }

  const bindVariable = (name: string): DefaultBinding | undefined => {
    const value = scope.expand(`{{${name}}}`)
    const secret = scope.isSecret(name) || secretNames.has(name) || containsSecret(value ?? '')
    if (!secret && (value === undefined || setByScripts.has(name))) return undefined
    const key = keys.get(name) ?? globals.claim(parameterNameOf(name.replace(/^vault:/, ''), 'value', new Set()))
    keys.set(name, key)
    globals.put({ key, isSecret: secret, value })
    return { source: 'server', key, secret }
  }

  /** The key starts with the owner of the host, because servers may have such a secret for another API. */
  const bindMissing = (parameter: string, item: DraftedItem): DefaultBinding => {
    const key = globals.secretKey({ value: '', parameter }, item.baseUrl ?? item.draft.definition.url)
    return { source: 'server', key, secret: true }
  }

  return ({ written, parameter }: DraftVariable, item: DraftedItem): DefaultBinding | undefined => {
    if (written === BASE_URL) return bindStart(item)
    if (isMissing(written)) return bindMissing(parameter, item)
    return isMember(written) ? undefined : bindVariable(written)
  }
}
