/** Longest MCP tool name: see TOOL_NAME. */
const MAX_NAME_CHARACTERS = 64
/** Names that begin like this are kept for what comes through upstreams. */
const RESERVED = /^proxy_/

const withNumber = (name: string, number: number): string => {
  const ending = `_${number}`
  return `${name.slice(0, MAX_NAME_CHARACTERS - ending.length)}${ending}`
}

/** `name` as it may stand in a server, or with the first number that makes it one of its own: `track_2`. */
export const makeUnique = (name: string, taken: ReadonlySet<string>): string => {
  const free = RESERVED.test(name) ? `tool_${name}`.slice(0, MAX_NAME_CHARACTERS) : name
  let unique = free
  for (let number = 2; taken.has(unique); number++) unique = withNumber(free, number)
  return unique
}
