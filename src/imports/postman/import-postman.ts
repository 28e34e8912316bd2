import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_OPERATIONS } from '../limits.ts'
import type { MappedSource } from '../mapped-source.ts'
import { importDrafts } from '../requests/import-drafts.ts'
import type { ProposedGlobals } from '../requests/proposed-globals.ts'
import { createBindings } from './bindings.ts'
import { Collection, Environment, type PostmanCollection, type PostmanEnvironment } from './collection.schema.ts'
import { createScope, variablesOfScripts } from './variables.ts'
import { type WalkedCollection, walkCollection } from './walk-collection.ts'

/** Unwraps what Postman's API returns. */
const unwrap = (value: JsonValue, key: string): JsonValue | undefined =>
  isJsonObject(value) && isJsonObject(value[key]) ? value[key] : value

const NOT_A_COLLECTION = 'It is not a Postman collection. Export the collection in the format 2.1.'

const readCollection = (value: JsonValue): Result<PostmanCollection, string> => {
  const root = unwrap(value, 'collection')
  if (isJsonObject(root) && Array.isArray(root.requests) && !('item' in root)) {
    return failure('It is a Postman collection in the format 1. Export it in the format 2.1.')
  }
  const parsed = Collection.safeParse(root)
  return parsed.success ? success(parsed.data) : failure(NOT_A_COLLECTION)
}

const readEnvironment = (value: JsonValue): Result<PostmanEnvironment, string> => {
  const root = unwrap(value, 'environment')
  const parsed = Environment.safeParse(root)
  const isEnvironment = parsed.success && isJsonObject(root) && Array.isArray(root.values)
  return isEnvironment ? success(parsed.data) : failure('An environment is not one that Postman exported.')
}

const notesOf = ({ items, scripts, unreadable }: WalkedCollection): readonly string[] => [
  ...(scripts.length > 0 ? [`Postman's scripts are not run (${formatNumber(scripts.length)}).`] : []),
  ...(unreadable > 0 ? [`${formatCount(unreadable, 'item')} without a request were left out.`] : []),
  ...(items.length === MAX_OPERATIONS ? [`Only the first ${formatNumber(MAX_OPERATIONS)} requests were read.`] : []),
]

/** Returns the requests of a collection, and how to turn them into tools. */
const draftItems = (collection: PostmanCollection, environments: readonly PostmanEnvironment[]) => {
  const scope = createScope(collection, environments)
  const walked = walkCollection(collection, scope)
  const setByScripts = variablesOfScripts(walked.scripts)
  const notes = notesOf(walked)
  const { items } = walked
  const bindings = (globals: ProposedGlobals) =>
    createBindings(
      items.filter(item => 'draft' in item),
      { scope, setByScripts, globals },
    )
  return { items, bindings, notes, title: collection.info.name, secrets: [...scope.secrets(), ...walked.secrets] }
}

const mapItems = async ({ items, bindings, notes, ...rest }: ReturnType<typeof draftItems>) =>
  success({ ...(await importDrafts(items, bindings, rest)), notes })

const readItems = (
  value: JsonValue,
  environmentValues: readonly JsonValue[],
): Result<ReturnType<typeof draftItems>, string> => {
  const collection = readCollection(value)
  if (!collection.ok) return collection
  const environments: PostmanEnvironment[] = []
  for (const one of environmentValues) {
    const environment = readEnvironment(one)
    if (!environment.ok) return environment
    environments.push(environment.value)
  }
  return success(draftItems(collection.value, environments))
}

/**
 * Maps a Postman collection in the format 2.0 or 2.1, with environments that give its variables values. Runs no script.
 * The error is a sentence. Takes the collection apart.
 */
export const importPostman = async (
  value: JsonValue,
  environmentValues: readonly JsonValue[] = [],
): Promise<Result<MappedSource, string>> => {
  const read = readItems(value, environmentValues)
  // Does not wait for the tools, so that the collection is not kept while they are written.
  return read.ok ? mapItems(read.value) : read
}
