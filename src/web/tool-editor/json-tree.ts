/** Limits that keep the page small, whatever the response contains. */
const MAX_NODES = 1_000
const MAX_DEPTH = 20
const MAX_CHARACTERS = 100_000
/** Maximum characters of one key or value. */
const MAX_TEXT = 1_000
/** The first nodes are open, so that a short response can be read without a click. */
const OPEN_NODES = 200

/** A value of a JSON text. Keys and scalars are spelled as in the text. */
export type JsonNode = {
  kind: 'object' | 'array' | 'scalar'
  /** Name of the member in quotes, or the index of the item. Undefined for the whole value. */
  key: string | undefined
  /** The scalar. Empty for objects and arrays. */
  text: string
  /** Number of values directly in an object or array, of which `children` are shown. */
  count: number
  children: JsonNode[]
  isOpen: boolean
}

export type JsonTree = { root: JsonNode | undefined; shown: number; total: number }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20

const afterSpace = (text: string, from: number): number => {
  let at = from
  while (text.charCodeAt(at) <= SPACE) at++
  return at
}

const afterString = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

const afterScalar = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && !', ]}\n\r\t'.includes(text.charAt(at))) at++
  return at
}

const shortened = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}… (${text.length} characters)`

const createBuilder = () => {
  const tree: JsonTree = { root: undefined, shown: 0, total: 0 }
  const open: JsonNode[] = []
  let key: string | undefined
  let characters = 0
  /** Number of open objects and arrays that are too deep to be counted one by one. */
  let deeper = 0

  const add = (kind: JsonNode['kind'], text: string): JsonNode | undefined => {
    tree.total++
    if (deeper > 0) return undefined
    const parent = open.at(-1)
    const name = parent?.kind === 'array' ? String(parent.count) : key
    if (parent !== undefined) parent.count++
    const node: JsonNode = { kind, key: undefined, text: '', count: 0, children: [], isOpen: tree.shown < OPEN_NODES }
    key = undefined
    if (tree.shown === MAX_NODES || characters > MAX_CHARACTERS || open.length > MAX_DEPTH) return node
    node.key = name && shortened(name)
    node.text = shortened(text)
    characters += node.text.length + (node.key?.length ?? 0)
    tree.shown++
    if (parent === undefined) tree.root = node
    else parent.children.push(node)
    return node
  }

  return {
    tree,
    setKey: (name: string): void => {
      key = name
    },
    add,
    begin: (kind: 'object' | 'array'): void => {
      const node = add(kind, '')
      if (node === undefined || open.length > MAX_DEPTH) deeper++
      else open.push(node)
    },
    end: (): void => {
      if (deeper > 0) deeper--
      else open.pop()
    },
  }
}

/**
 * Builds the beginning of a tree from valid JSON text, and counts all of its values. Takes linear time and does not
 * recurse. Reads the text instead of parsed values, so that numbers and strings keep their exact spelling.
 */
export const toJsonTree = (json: string): JsonTree => {
  const builder = createBuilder()
  for (let at = afterSpace(json, 0); at < json.length; at = afterSpace(json, at)) {
    const from = at
    const char = json.charAt(from)
    at++
    if (char === '{') builder.begin('object')
    else if (char === '[') builder.begin('array')
    else if (char === '}' || char === ']') builder.end()
    else if (char === '"') {
      at = afterString(json, from)
      const text = json.slice(from, at)
      if (json.charCodeAt(afterSpace(json, at)) === COLON) builder.setKey(text)
      else builder.add('scalar', text)
    } else if (char !== ',' && char !== ':') {
      at = afterScalar(json, from)
      builder.add('scalar', json.slice(from, at))
    }
  }
  return builder.tree
}
