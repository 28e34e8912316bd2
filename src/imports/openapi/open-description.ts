import { upgrade } from '@scalar/openapi-upgrader'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { Documents } from '../read/documents.ts'
import { type DescriptionFormat, identifyDescription } from '../read/other-formats.ts'
import { memberOf, objectEntries, toList, toObject, toText } from './nodes.ts'

/** References to references. No description has chains of more than two or three. */
const MAX_HOPS = 20

/** What a reference leads to. `missing` is a reference that leads nowhere. */
type Followed = { value: JsonValue | undefined; missing: string | undefined }

export type Description = {
  format: DescriptionFormat
  /** The main document. Swagger 2.0 is upgraded to 3.0; the parts of 3.0 are upgraded when they are asked for. */
  root: JsonObject
  rootUrl: string | undefined
  /** Follows a reference, and the references that it leads to. Returns other values as they are. */
  follow: (node: JsonValue | undefined) => Followed
  /** Follows a reference to an object. Returns an empty object for anything else. */
  followObject: (node: JsonValue | undefined) => JsonObject
  /** The path items in OpenAPI 3.1 or 3.2, one at a time, so that only one of them takes memory twice. */
  pathItems: () => Generator<readonly [path: string, item: JsonValue]>
}

/**
 * Key of the style of an array by its `collectionFormat` in Swagger 2.0. OpenAPI 3 has no name for `tsv`, and for `ssv`
 * and `pipes` only in a query, so the upgrader drops them.
 */
export const LIST_STYLE = 'x-patchbay-list-style'
const LIST_STYLES: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['ssv', 'spaceDelimited'],
  ['tsv', 'tabDelimited'],
  ['pipes', 'pipeDelimited'],
])

/** Keeps the format of an array. The default is `csv` in forms too, which the upgrader does not know. */
const keepListStyle = (parameter: JsonObject): JsonObject => {
  const style = LIST_STYLES.get(parameter.collectionFormat)
  if (style !== undefined) return { ...parameter, [LIST_STYLE]: style }
  const isPlain = parameter.type === 'array' && parameter.collectionFormat === undefined
  return isPlain && parameter.in === 'formData' ? { ...parameter, collectionFormat: 'csv' } : parameter
}

/** Copies `x-example` to `example`. The upgrader drops it unless it is an object or belongs to a form. */
const keepExample = (parameter: JsonObject): JsonObject => {
  const { 'x-example': example, in: place } = parameter
  return place === 'body' || example === undefined ? parameter : { example, ...parameter }
}

/** Returns a parameter in place of a reference to it if it is a part of the body, for which the upgrader loses it. */
const inlineBody = (parameter: JsonObject, shared: JsonObject): JsonObject => {
  const [, name] = /^#\/parameters\/([^/]+)$/.exec(toText(parameter.$ref)) ?? []
  const target = toObject(name === undefined ? undefined : memberOf(shared, name))
  return target.in === 'body' || target.in === 'formData' ? structuredClone(target) : parameter
}

/** Prepares parameters for the upgrader, which expects each to be an object with a place. */
const prepareParameters = (parameters: JsonValue | undefined, shared: JsonObject): JsonObject[] =>
  toList(parameters)
    .filter(isJsonObject)
    .map(parameter => inlineBody(parameter, shared))
    .filter(parameter => typeof parameter.$ref === 'string' || typeof parameter.in === 'string')
    .map(keepListStyle)
    .map(keepExample)

/** Keeps the members that are objects. */
const keepObjects = (value: JsonValue): JsonObject => Object.fromEntries(objectEntries(value))

/** Keeps media types. The upgrader makes keys of them, and would change the prototype of all objects. */
const keepMediaTypes = (value: JsonValue): JsonValue =>
  toList(value).filter(type => typeof type === 'string' && type !== '__proto__')

const PREPARED: readonly (readonly [key: string, prepare: (value: JsonValue) => JsonValue])[] = [
  ['consumes', keepMediaTypes],
  ['produces', keepMediaTypes],
  ['responses', keepObjects],
  ['securityDefinitions', keepObjects],
]

/** Removes what has a type that the upgrader does not expect from an operation or a description. Changes the object. */
const prepareMembers = (object: JsonObject): void => {
  for (const [key, prepare] of PREPARED) {
    const value = object[key]
    if (value !== undefined) object[key] = prepare(value)
  }
}

/** Prepares a path item of Swagger 2.0 for the upgrader. Changes the item. `shared` are the description's parameters. */
const prepareItem = (item: JsonObject, shared: JsonObject): void => {
  for (const [key, value] of Object.entries(item)) {
    if (key === 'parameters') item.parameters = prepareParameters(value, shared)
    else if (isJsonObject(value)) {
      prepareMembers(value)
      if (value.parameters !== undefined) value.parameters = prepareParameters(value.parameters, shared)
    } else if (key !== '$ref') delete item[key]
  }
}

const upgradeSwagger = (root: JsonObject): Result<JsonObject, string> => {
  try {
    prepareMembers(root)
    for (const [, item] of objectEntries(root.paths)) prepareItem(item, toObject(root.parameters))
    const upgraded: unknown = upgrade({ ...root, swagger: '2.0' }, '3.0')
    return isJsonObject(upgraded) ? success(upgraded) : failure('It cannot be upgraded from Swagger 2.0.')
  } catch {
    return failure('It cannot be upgraded from Swagger 2.0: a part of it has the wrong type.')
  }
}

/** Upgrades one part of a description from 3.0 to 3.1, at its place in an otherwise empty one. */
const upgradePart = (keys: readonly string[], value: JsonValue): JsonValue | undefined => {
  const wrapped = keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value)
  const upgraded: unknown = upgrade({ openapi: '3.0.3', ...toObject(wrapped) }, '3.1')
  return isJsonObject(upgraded) ? keys.reduce<JsonValue | undefined>(memberOf, upgraded) : undefined
}

const decodePointer = (fragment: string): readonly string[] =>
  fragment
    .slice(2)
    .split('/')
    .map(token => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))

/** Returns how many keys of a pointer lead to a part that can be upgraded by itself. */
const lengthOfPart = ([first, second]: readonly string[], length: number): number => {
  if (first === 'paths' || (first === 'components' && second === undefined)) return Math.min(length, 2)
  return first === 'components' ? Math.min(length, 3) : length
}

const replaceMember = (parent: JsonValue | undefined, key: string, value: JsonValue): void => {
  if (isJsonObject(parent)) parent[key] = value
  else if (Array.isArray(parent)) parent[Number(key)] = value
}

/**
 * Creates a function that upgrades the part of a document behind these keys. Replaces the part, so that a large
 * description is not in memory twice.
 */
const createUpgrade = () => {
  const upgraded = new WeakSet<object>()
  return (document: JsonValue, keys: readonly string[]): JsonValue | undefined => {
    const parent = keys.slice(0, -1).reduce<JsonValue | undefined>(memberOf, document)
    const last = keys.at(-1) ?? ''
    const value = memberOf(parent, last)
    if (typeof value !== 'object' || value === null || upgraded.has(value)) return value
    const newer = upgradePart(keys, value)
    if (typeof newer !== 'object' || newer === null) return newer
    upgraded.add(newer)
    replaceMember(parent, last, newer)
    return newer
  }
}

const createLookUp = (root: JsonObject, documents: Documents, needsUpgrade: boolean) => {
  const found = new Map<string, JsonValue | undefined>()
  const upgradeAt = createUpgrade()

  const findIn = (document: JsonValue, fragment: string): JsonValue | undefined => {
    if (fragment === '' || fragment === '#') {
      return needsUpgrade ? upgradePart(['components', 'schemas', 'whole'], document) : document
    }
    if (!fragment.startsWith('#/')) return undefined
    const keys = decodePointer(fragment)
    const length = lengthOfPart(keys, keys.length)
    const head = keys.slice(0, length)
    const part = needsUpgrade ? upgradeAt(document, head) : head.reduce<JsonValue | undefined>(memberOf, document)
    return keys.slice(length).reduce(memberOf, part)
  }
  const find = (ref: string): JsonValue | undefined => {
    const target = documents.locate(ref)
    const document = target?.isRoot === true ? root : target?.document
    try {
      return target === undefined || document === undefined ? undefined : findIn(document, target.fragment)
    } catch {
      // The fragment has a malformed escape, or the part has a type that the upgrader does not expect.
      return undefined
    }
  }
  return (ref: string): JsonValue | undefined => {
    if (!found.has(ref)) found.set(ref, find(ref))
    return found.get(ref)
  }
}

/** Opens a description. Nothing is dereferenced or upgraded until it is asked for. */
export const openDescription = (documents: Documents): Result<Description, string> => {
  const format = identifyDescription(documents.root)
  if (typeof format === 'string') return failure(format)
  const given = toObject(documents.root)
  const upgraded = format.kind === 'swagger' ? upgradeSwagger(given) : success(given)
  if (!upgraded.ok) return upgraded
  const root = upgraded.value
  const needsUpgrade = /^3\.0/.test(toText(root.openapi) || format.version)
  const lookUp = createLookUp(root, documents, needsUpgrade)

  const follow = (node: JsonValue | undefined): Followed => {
    let value = node
    for (let hops = 0; isJsonObject(value) && typeof value.$ref === 'string'; hops++) {
      const target = hops < MAX_HOPS ? lookUp(value.$ref) : undefined
      if (target === undefined) return { value: undefined, missing: value.$ref }
      value = target
    }
    return { value, missing: undefined }
  }
  const upgradeItem = (path: string, item: JsonValue): JsonValue => {
    if (!needsUpgrade || !isJsonObject(item)) return item
    try {
      return upgradePart(['paths', path], item) ?? null
    } catch {
      return null
    }
  }
  return success({
    format,
    root,
    rootUrl: documents.rootUrl,
    follow,
    followObject: node => toObject(follow(node).value),
    *pathItems() {
      for (const [path, item] of Object.entries(toObject(root.paths))) yield [path, upgradeItem(path, item)]
    },
  })
}
