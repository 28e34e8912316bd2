import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonValue, parseIfJson } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { IsSecret } from '../../tools/import/draft-parameters.ts'
import { isId } from '../../tools/import/draft-url.ts'
import type { ImportedRequest } from '../../tools/import/imported-request.ts'
import { isSecretValue } from '../../tools/import/secret-values.ts'
import type { MappedSource } from '../mapped-source.ts'
import { credentialsOf, draftOrRefuse } from '../requests/draft-operation.ts'
import { bindSecrets, importDrafts } from '../requests/import-drafts.ts'
import { createMembers } from '../requests/members.ts'
import { createOperationKeys, describeTarget } from '../requests/request-key.ts'
import { combineRequests } from './combine-requests.ts'
import { Har, HarEntry } from './har.schema.ts'
import { isPageAsset, readEntry } from './read-entry.ts'

/** Maximum number of tools: as many as a toolkit can have. */
const MAX_TOOLS = 2_000
/** More requests of one kind say nothing new about it. */
const MAX_REQUESTS_PER_TOOL = 50

/** Name of a GraphQL operation: all of them have the same path. */
const operationOf = ({ body }: ImportedRequest): string | undefined => {
  const value = body.kind === 'json' ? parseIfJson(body.text) : undefined
  if (!isJsonObject(value) || typeof value.query !== 'string') return undefined
  return typeof value.operationName === 'string' ? value.operationName : value.query
}

/** Requests with the same method, origin and path belong together. Ids in the path do not count. */
const groupOf = (request: ImportedRequest): string => {
  const { origin, pathname } = new URL(request.url)
  const path = pathname.split('/').map(segment => (isId(segment) ? ':' : segment))
  return [request.method, origin, path.join('/'), operationOf(request) ?? ''].join('\n')
}

const readEntries = (entries: readonly unknown[]) => {
  const requests: ImportedRequest[] = []
  const left = { assets: 0, unreadable: 0 }
  for (const one of entries) {
    const entry = HarEntry.safeParse(one)
    const isAsset = entry.success && isPageAsset(entry.data)
    const request = entry.success && !isAsset ? readEntry(entry.data) : undefined
    if (request !== undefined) requests.push(request)
    else if (isAsset) left.assets++
    else left.unreadable++
  }
  return { requests, left }
}

type Context = { keyOf: ReturnType<typeof createOperationKeys>; isSecret: IsSecret }

const draftGroup = (group: readonly ImportedRequest[], { keyOf, isSecret }: Context) => {
  const [first, ...others] = group.slice(-MAX_REQUESTS_PER_TOOL)
  if (first === undefined) return []
  const members = createMembers()
  const request = combineRequests([first, ...others], { members, isSecret })
  const target = describeTarget(request)
  const operation = operationOf(first)
  const summary = operation !== undefined && /^\w{1,80}$/.test(operation) ? operation : undefined
  const source = { ...target, key: keyOf(target), operationId: undefined, summary, tags: [], deprecated: false }
  return [draftOrRefuse({ ...source, request, metas: members.metas(), isSecret })]
}

/** Maps the requests of a HAR file, without the parts of pages. The error is a sentence. */
export const importHar = async (value: JsonValue): Promise<Result<MappedSource, string>> => {
  const har = Har.safeParse(value)
  if (!har.success) return failure('It is not a HAR file. It has no log with entries.')
  const { entries, pages } = har.data.log
  const { requests, left } = readEntries(entries)
  const groups = [...Map.groupBy(requests, groupOf).values()]
  // Also those of requests that are combined with later ones.
  const secrets = new Set(requests.flatMap(credentialsOf))
  const isSecret: IsSecret = (place, name, value) => {
    const isFound = isSecretValue(place, name, value)
    if (isFound) secrets.add(value)
    return isFound
  }
  const keyOf = createOperationKeys()
  const drafts = groups.slice(0, MAX_TOOLS).flatMap(group => draftGroup(group, { keyOf, isSecret }))
  const notes = [
    ...(left.assets > 0 ? [`${formatCount(left.assets, 'entry', 'entries')} of pages were left out.`] : []),
    ...(left.unreadable > 0 ? [`${formatCount(left.unreadable, 'entry', 'entries')} could not be read.`] : []),
    ...(groups.length > MAX_TOOLS ? [`Only the first ${formatNumber(MAX_TOOLS)} tools were made.`] : []),
  ]
  // Browsers write the URL of the page, which can contain credentials.
  const page = pages?.[0]?.title ?? ''
  const title = URL.parse(page)?.host || page
  return success({ ...(await importDrafts(drafts, bindSecrets, { title, secrets: [...secrets] })), notes })
}
